// Ends blocks that do not end. A timer on the worker's processor time interrupts it: a debugger that holds the program stops the
// timer too.
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <mutex>

#include "emulator/worker.h"

#if !defined(sigev_notify_thread_id)
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace oprt::emulator {
namespace {

constexpr int kSignal = SIGURG;  // ignored unless asked for; debuggers let it pass
constexpr int kTicks = 3;        // without a block that ended; the first may come at once

uintptr_t interrupted_pc([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

struct sigaction previous;

void on_signal(int signal, siginfo_t* info, void* context) {
  if (info->si_code == SI_TIMER) {
    if (this_worker != nullptr && this_worker->launch != nullptr) this_worker->look_for_hang(interrupted_pc(context));
  } else if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
}

void install_handler() {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;  // not held back: a hung kernel is left from within the handler
  sigaction(kSignal, &action, &previous);
}

timespec seconds(double value) {
  const auto whole = static_cast<time_t>(value);
  return {whole, static_cast<long>((value - static_cast<double>(whole)) * 1e9)};
}

}  // namespace

// The timer goes on between launches, which cost more if they set it.
void Worker::watch(double timeout_s) {
  ticks_without_block = 0;
  const pid_t process = getpid();
  if (timer_owner == process && timer_seconds == timeout_s) return;
  static std::once_flag installed;
  std::call_once(installed, install_handler);
  if (timer_owner != process) {  // timers are not inherited by a fork
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return;
    timer_owner = process;
  }
  timer_seconds = timeout_s;
  const timespec interval = seconds(timeout_s / (kTicks - 1));
  const itimerspec times = {interval, interval};
  timer_settime(timer, 0, &times, nullptr);
}

void Worker::look_for_hang(uintptr_t pc) {
  if (num_blocks_run != num_blocks_at_tick) {
    num_blocks_at_tick = num_blocks_run;
    ticks_without_block = 0;
    return;
  }
  ticks_without_block = ticks_without_block + 1;
  if (ticks_without_block < kTicks) return;
  is_hung = true;
  if (!in_engine) fail_hung(pc + 1);  // as if it were the address after a call
}

}  // namespace oprt::emulator
