// A first execute that is captured in a graph and replayed after its descriptor is gone; one descriptor, eight threads, eight
// streams; tensors past 2^31 elements. Exit code 1 if a part fails, 77 where there is no GPU.
#include <atomic>
#include <thread>
#include <type_traits>

#include "device.h"

namespace {

using namespace cuda_test;

int num_failures = 0;

void expect(bool ok, const char* what) {
  std::printf("%-6s %s\n", ok ? "passed" : "FAILED", what);
  num_failures += ok ? 0 : 1;
}

class Stream {
 public:
  Stream() { cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

template <class T>
std::vector<T> read_back(const DeviceMemory& memory, size_t count, size_t first = 0) {
  std::vector<T> values(count);
  cuda(cudaMemcpy(values.data(), memory.data() + first * sizeof(T), count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

DeviceMemory filled(const std::vector<char>& bytes) {
  DeviceMemory memory(bytes.size());
  cuda(cudaMemcpy(memory.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return memory;
}

// What two sums of n elements in [-2, 2) may differ by: (64 + log2 n) 2^-24 sum|x| on either side.
float sum_tolerance(int64_t n) {
  const auto terms = static_cast<float>(n);
  return 2 * (64 + std::log2(terms)) * 0x1p-24f * 2 * terms;
}

// The split sum is the one operator whose workspace is not empty: the hardest to share.
void many_threads_share_a_descriptor() {
  constexpr int kThreads = 8;
  constexpr int kRuns = 200;
  const Layout in = dense({2, 1 << 20});
  const Layout out = dense({2});
  const DeviceMemory x = filled(random_elements(OPRT_DTYPE_FLOAT32, in.storage, 7));
  const rt::Prepared<rt::ReduceSum> sum(OPRT_BACKEND_NVIDIA, rt::View(view_of(out, OPRT_DTYPE_FLOAT32, nullptr, kGpu)),
                                        rt::ConstView(view_of(in, OPRT_DTYPE_FLOAT32, nullptr, kGpu)), std::vector<int32_t>{1},
                                        false);
  std::vector<std::vector<float>> results(kThreads);
  std::vector<std::thread> threads;
  std::atomic<int> errors{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Stream stream;
      const DeviceMemory y(2 * sizeof(float));
      const DeviceMemory workspace(sum.workspace_size());
      try {
        for (int i = 0; i < kRuns; ++i) sum.execute({workspace.data(), workspace.size(), stream.get()}, y.data(), x.data());
      } catch (const rt::Error&) {
        ++errors;
      }
      cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
      results[static_cast<size_t>(t)] = read_back<float>(y, 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<float> expected(2);
  std::vector<char> host = random_elements(OPRT_DTYPE_FLOAT32, in.storage, 7);
  const rt::View cpu_out(view_of(out, OPRT_DTYPE_FLOAT32, expected.data(), rt::kCpu));
  const rt::ConstView cpu_in(view_of(in, OPRT_DTYPE_FLOAT32, host.data(), rt::kCpu));
  rt::run(rt::Prepared<rt::ReduceSum>(OPRT_BACKEND_CPU, cpu_out, cpu_in, std::vector<int32_t>{1}, false), cpu_out, cpu_in);
  bool same = errors == 0;
  for (const auto& result : results) same = same && result == results[0];
  for (size_t i = 0; i < 2; ++i) same = same && std::abs(results[0][i] - expected[i]) <= sum_tolerance(1 << 20);
  expect(same, "8 threads on 8 streams execute one descriptor, get the same bits, and the sums are right");
}

struct Allowed {
  float relative;
  float absolute;
};

// Everything that capture could trip over happens in create: this execute is the first that the process makes of its kernel. An
// operator of two inputs gets the same one twice.
template <class Op, class... Attributes>
void replays_after_its_scope(const char* what, Allowed allowed, const Layout& in, const Layout& out,
                             const Attributes&... attributes) {
  std::vector<char> bytes = random_elements(OPRT_DTYPE_FLOAT32, in.storage, 11);
  const DeviceMemory x = filled(bytes);
  const DeviceMemory y(static_cast<size_t>(out.storage) * sizeof(float));
  const Stream stream;
  cudaGraphExec_t graph_exec = nullptr;
  DeviceMemory* workspace = nullptr;
  const auto prepare = [&](oprt_backend_t backend, const rt::View& to, const rt::ConstView& from) {
    if constexpr (std::is_same_v<Op, rt::VectorAdd>) {
      return rt::Prepared<Op>(backend, to, from, from);
    } else {
      return rt::Prepared<Op>(backend, to, from, attributes...);
    }
  };
  const auto execute = [](const rt::Prepared<Op>& op, const rt::Launch& launch, void* to, const void* from) {
    if constexpr (std::is_same_v<Op, rt::VectorAdd>) {
      op.execute(launch, to, from, from);
    } else {
      op.execute(launch, to, from);
    }
  };
  {
    const rt::Prepared<Op> op = prepare(OPRT_BACKEND_NVIDIA, rt::View(view_of(out, OPRT_DTYPE_FLOAT32, nullptr, kGpu)),
                                        rt::ConstView(view_of(in, OPRT_DTYPE_FLOAT32, nullptr, kGpu)));
    workspace = new DeviceMemory(op.workspace_size());
    cudaGraph_t graph = nullptr;
    cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    execute(op, {workspace->data(), workspace->size(), stream.get()}, y.data(), x.data());
    cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
    cuda(cudaGraphInstantiate(&graph_exec, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
  }
  const auto replay = [&](int fill) {
    cuda(cudaMemset(y.data(), fill, y.size()), "cudaMemset");
    if (workspace->size() > 0) cuda(cudaMemset(workspace->data(), fill, workspace->size()), "cudaMemset");
    cuda(cudaGraphLaunch(graph_exec, stream.get()), "cudaGraphLaunch");
    cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    return read_back<float>(y, static_cast<size_t>(out.storage));
  };
  const std::vector<float> first = replay(0x00);
  const std::vector<float> second = replay(0xff);

  std::vector<float> expected(static_cast<size_t>(out.storage));
  const rt::Prepared<Op> cpu = prepare(OPRT_BACKEND_CPU, rt::View(view_of(out, OPRT_DTYPE_FLOAT32, expected.data(), rt::kCpu)),
                                       rt::ConstView(view_of(in, OPRT_DTYPE_FLOAT32, bytes.data(), rt::kCpu)));
  const rt::Workspace cpu_workspace(cpu.workspace_size());
  const auto* cpu_in = bytes.data() + static_cast<size_t>(in.offset) * sizeof(float);
  execute(cpu, {cpu_workspace.data(), cpu_workspace.size(), nullptr}, expected.data(), cpu_in);
  bool close = first == second;
  for (size_t i = 0; i < expected.size(); ++i) {
    close = close && std::abs(first[i] - expected[i]) <= allowed.absolute + allowed.relative * std::abs(expected[i]);
  }
  expect(close, what);
  cudaGraphExecDestroy(graph_exec);
  delete workspace;
}

// Bytes i % 251, so that a wrapped index shows.
constexpr int64_t kHuge = (int64_t{1} << 31) + 4096 + 17;

void sizes_past_2_31() {
  std::vector<char> pattern(251 * 4096);
  for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<char>(i % 251);
  const DeviceMemory x(kHuge);
  const DeviceMemory y(kHuge);
  for (int64_t at = 0; at < kHuge; at += static_cast<int64_t>(pattern.size())) {
    const size_t size = std::min(pattern.size(), static_cast<size_t>(kHuge - at));
    cuda(cudaMemcpy(x.data() + at, pattern.data(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  const auto byte_at = [](int64_t i) { return static_cast<char>(i % 251); };
  const Layout flat = dense({kHuge});
  const auto i8 = [&](void* data, const Layout& layout) { return view_of(layout, OPRT_DTYPE_INT8, data, kGpu); };
  const auto execute = [](const auto& op, void* out, auto*... in) {
    const DeviceMemory workspace(op.workspace_size());
    op.execute({workspace.data(), workspace.size(), nullptr}, out, in...);
    cuda(cudaDeviceSynchronize(), op.implementation());
  };
  const auto check_ends = [&](const char* what, auto&& expected) {
    bool ok = true;
    for (const int64_t at : {int64_t{0}, (int64_t{1} << 31) - 64, kHuge - 128}) {
      const auto values = read_back<char>(y, 128, static_cast<size_t>(at));
      for (int64_t i = 0; i < 128; ++i) ok = ok && values[static_cast<size_t>(i)] == expected(at + i);
    }
    expect(ok, what);
  };

  execute(rt::Prepared<rt::Copy>(OPRT_BACKEND_NVIDIA, rt::View(i8(nullptr, flat)), rt::ConstView(i8(nullptr, flat))), y.data(),
          x.data());
  check_ends("copy of 2^31 + 4113 bytes", byte_at);
  execute(rt::Prepared<rt::VectorAdd>(OPRT_BACKEND_NVIDIA, rt::View(i8(nullptr, flat)), rt::ConstView(i8(nullptr, flat)),
                                      rt::ConstView(i8(nullptr, flat))),
          y.data(), x.data(), x.data());
  check_ends("vector_add of 2^31 + 4113 bytes", [&](int64_t i) { return static_cast<char>(2 * byte_at(i)); });

  // Backwards: element by element, with 64-bit indices.
  const Layout reversed = stepped(kHuge, -1);
  execute(rt::Prepared<rt::Copy>(OPRT_BACKEND_NVIDIA, rt::View(i8(nullptr, flat)), rt::ConstView(i8(nullptr, reversed))), y.data(),
          x.data() + reversed.offset);
  check_ends("copy of 2^31 + 4113 bytes, reversed", [&](int64_t i) { return byte_at(kHuge - 1 - i); });
  execute(rt::Prepared<rt::VectorAdd>(OPRT_BACKEND_NVIDIA, rt::View(i8(nullptr, flat)), rt::ConstView(i8(nullptr, reversed)),
                                      rt::ConstView(i8(nullptr, flat))),
          y.data(), x.data() + reversed.offset, x.data());
  check_ends("vector_add of 2^31 + 4113 bytes, one input reversed",
             [&](int64_t i) { return static_cast<char>(byte_at(kHuge - 1 - i) + byte_at(i)); });

  int64_t expected_sum = 0;
  for (int64_t i = 0; i < 251; ++i) expected_sum += byte_at(i) * ((kHuge - i + 250) / 251);
  const DeviceMemory total(sizeof(int64_t));
  execute(rt::Prepared<rt::ReduceSum>(OPRT_BACKEND_NVIDIA, rt::View(view_of(dense({}), OPRT_DTYPE_INT64, nullptr, kGpu)),
                                      rt::ConstView(i8(nullptr, flat)), std::vector<int32_t>{}, false),
          total.data(), x.data());
  expect(read_back<int64_t>(total, 1)[0] == expected_sum, "reduce_sum of 2^31 + 4113 bytes");

  // Every second byte of 32771, 65537 times over: dims that cannot be joined, so a 64-bit point is divided.
  constexpr int64_t kTimes = 65537, kColumns = 32771;
  const Layout repeated{{kTimes, kColumns}, {0, 2}, 2 * kColumns, 0};
  expected_sum = 0;
  for (int64_t i = 0; i < kColumns; ++i) expected_sum += kTimes * byte_at(2 * i);
  execute(rt::Prepared<rt::ReduceSum>(OPRT_BACKEND_NVIDIA, rt::View(view_of(dense({}), OPRT_DTYPE_INT64, nullptr, kGpu)),
                                      rt::ConstView(i8(nullptr, repeated)), std::vector<int32_t>{}, false),
          total.data(), x.data());
  expect(read_back<int64_t>(total, 1)[0] == expected_sum, "reduce_sum of 65537 x 32771 bytes, strided");
}

// 32 bytes written 2^30 times: more pieces of rows than 31 bits count.
void rows_past_2_31_pieces() {
  constexpr int64_t kRows = int64_t{1} << 30, kColumns = 32;
  const DeviceMemory x = filled(random_elements(OPRT_DTYPE_INT8, kColumns, 3));
  const DeviceMemory y(kRows * kColumns);
  const Layout in{{kRows, kColumns}, {0, 1}, kColumns, 0};
  const rt::Prepared<rt::Copy> copy(OPRT_BACKEND_NVIDIA,
                                    rt::View(view_of(dense({kRows, kColumns}), OPRT_DTYPE_INT8, nullptr, kGpu)),
                                    rt::ConstView(view_of(in, OPRT_DTYPE_INT8, nullptr, kGpu)));
  copy.execute({}, y.data(), x.data());
  cuda(cudaDeviceSynchronize(), copy.implementation());
  const auto row = read_back<char>(x, kColumns);
  bool ok = true;
  for (const int64_t at : {int64_t{0}, kRows / 2, kRows - 1})
    ok = ok && read_back<char>(y, kColumns, static_cast<size_t>(at * kColumns)) == row;
  expect(ok, "copy of one row to 2^30 rows");
}

// Rows past the 2^31st element must be written: zeros become 1/1024.
void softmax_past_2_31() {
  constexpr int64_t kColumns = 1024;
  constexpr int64_t kRows = (int64_t{1} << 21) + 16;
  const DeviceMemory x(kRows * kColumns * 2);
  cuda(cudaMemset(x.data(), 0, x.size()), "cudaMemset");
  const Layout layout = dense({kRows, kColumns});
  const rt::Prepared<rt::Softmax> softmax(OPRT_BACKEND_NVIDIA, rt::View(view_of(layout, OPRT_DTYPE_FLOAT16, nullptr, kGpu)),
                                          rt::ConstView(view_of(layout, OPRT_DTYPE_FLOAT16, nullptr, kGpu)), int32_t{1});
  const DeviceMemory workspace(softmax.workspace_size());
  softmax.execute({workspace.data(), workspace.size(), nullptr}, x.data(), x.data());
  cuda(cudaDeviceSynchronize(), "softmax");
  bool ok = true;
  for (const int64_t row : {int64_t{0}, int64_t{1} << 20, (int64_t{1} << 21) - 1, int64_t{1} << 21, kRows - 1}) {
    for (const uint16_t bits : read_back<uint16_t>(x, kColumns, static_cast<size_t>(row * kColumns))) ok = ok && bits == 0x1400;
  }
  expect(ok, "softmax of 2^31 + 16384 float16, in place");
}

void devices_that_do_not_exist_are_refused() {
  bool refused = true;
  for (const int32_t id : {-1, 99}) {
    const oprt_tensor_view_t view = view_of(dense({4}), OPRT_DTYPE_FLOAT32, nullptr, {OPRT_DEVICE_CUDA, id});
    refused = refused && oprt_check_copy_support(OPRT_BACKEND_NVIDIA, &view, &view) == OPRT_ERR_INVALID_ARGUMENT &&
              std::strstr(oprt_last_error(), "out is on cuda device") != nullptr;
  }
  expect(refused, "tensors on devices -1 and 99 are refused by name");
}

// The caller's device stays current, whatever device the tensors are on.
void runs_on_another_device() {
  constexpr int64_t kSize = 1000;
  const oprt_device_t second{OPRT_DEVICE_CUDA, 1};
  const Layout layout = dense({kSize});
  cuda(cudaSetDevice(1), "cudaSetDevice");
  const std::vector<char> bytes = random_elements(OPRT_DTYPE_FLOAT32, kSize, 5);
  const DeviceMemory x = filled(bytes);
  const DeviceMemory y(bytes.size());
  cuda(cudaSetDevice(0), "cudaSetDevice");
  const rt::Prepared<rt::Copy> copy(OPRT_BACKEND_AUTO, rt::View(view_of(layout, OPRT_DTYPE_FLOAT32, nullptr, second)),
                                    rt::ConstView(view_of(layout, OPRT_DTYPE_FLOAT32, nullptr, second)));
  copy.execute({}, y.data(), x.data());
  int current = -1;
  cuda(cudaGetDevice(&current), "cudaGetDevice");
  cuda(cudaSetDevice(1), "cudaSetDevice");
  cuda(cudaDeviceSynchronize(), "copy");
  const bool equal = read_back<char>(y, bytes.size()) == bytes;
  cuda(cudaSetDevice(0), "cudaSetDevice");
  expect(current == 0 && equal, "copy on the second device leaves the first one current");
}

}  // namespace

int main() try {
  require_gpu();
  constexpr Allowed kSoftmax{1e-5f, 0};
  constexpr Allowed kExact{0, 0};
  replays_after_its_scope<rt::Softmax>("softmax: a captured first execute replays after its descriptor is gone", kSoftmax,
                                       dense({64, 1000}), dense({64, 1000}), int32_t{1});
  replays_after_its_scope<rt::Softmax>("softmax of one long row: the same", kSoftmax, dense({1, 500000}), dense({1, 500000}),
                                       int32_t{1});
  replays_after_its_scope<rt::ReduceSum>("reduce_sum of one long row: the same", {0, sum_tolerance(1000000)}, dense({1, 1000000}),
                                         dense({1}), std::vector<int32_t>{1}, false);
  replays_after_its_scope<rt::Copy>("copy, transposed: the same", kExact, transposed(dense({300, 200}), 0, 1), dense({200, 300}));
  replays_after_its_scope<rt::VectorAdd>("vector_add: the same", kExact, dense({300, 200}), dense({300, 200}));
  many_threads_share_a_descriptor();
  sizes_past_2_31();
  rows_past_2_31_pieces();
  softmax_past_2_31();
  devices_that_do_not_exist_are_refused();
  int devices = 0;
  cuda(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (devices < 2) {
    std::printf("skipped two devices: this machine has one\n");
  } else {
    runs_on_another_device();
  }
  std::printf("stress: %d failed\n", num_failures);
  return num_failures == 0 ? 0 : 1;
} catch (const operator_runtime::Error& error) {
  std::fprintf(stderr, "stress: %s\n", error.what());
  return 1;
}
