// One descriptor, eight threads, eight streams; a first execute that is captured in a graph and replayed after its descriptor is
// gone; tensors past 2^31 elements. Exit code 1 if a part fails, 77 where there is no GPU.
#include <atomic>
#include <thread>

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
  bool same = errors == 0;
  for (const auto& result : results) same = same && result == results[0];
  expect(same, "8 threads on 8 streams execute one descriptor and get the same bits");
}

// Everything that capture could trip over happens in create: this execute is the first that the process makes of its kernel.
template <class Op, class... Attributes>
void replays_after_its_scope(const char* what, const Layout& in, const Layout& out, const Attributes&... attributes) {
  const std::vector<char> bytes = random_elements(OPRT_DTYPE_FLOAT32, in.storage, 11);
  const DeviceMemory x = filled(bytes);
  const DeviceMemory y(static_cast<size_t>(out.storage) * sizeof(float));
  const Stream stream;
  cudaGraphExec_t graph_exec = nullptr;
  DeviceMemory* workspace = nullptr;
  {
    const rt::Prepared<Op> op(OPRT_BACKEND_NVIDIA, rt::View(view_of(out, OPRT_DTYPE_FLOAT32, nullptr, kGpu)),
                              rt::ConstView(view_of(in, OPRT_DTYPE_FLOAT32, nullptr, kGpu)), attributes...);
    workspace = new DeviceMemory(op.workspace_size());
    cudaGraph_t graph = nullptr;
    cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    op.execute({workspace->data(), workspace->size(), stream.get()}, y.data(), x.data());
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
  const rt::View cpu_out(view_of(out, OPRT_DTYPE_FLOAT32, expected.data(), rt::kCpu));
  std::vector<char> copy = bytes;
  const rt::ConstView cpu_in(view_of(in, OPRT_DTYPE_FLOAT32, copy.data(), rt::kCpu));
  rt::run(rt::Prepared<Op>(OPRT_BACKEND_CPU, cpu_out, cpu_in, attributes...), cpu_out, cpu_in);
  bool close = first == second;
  for (size_t i = 0; i < expected.size(); ++i)
    close = close && std::abs(first[i] - expected[i]) <= 1e-3f * (1 + std::abs(expected[i]));
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

  int64_t expected_sum = 0;
  for (int64_t i = 0; i < 251; ++i) expected_sum += byte_at(i) * ((kHuge - i + 250) / 251);
  const DeviceMemory total(sizeof(int64_t));
  execute(rt::Prepared<rt::ReduceSum>(OPRT_BACKEND_NVIDIA, rt::View(view_of(dense({}), OPRT_DTYPE_INT64, nullptr, kGpu)),
                                      rt::ConstView(i8(nullptr, flat)), std::vector<int32_t>{}, false),
          total.data(), x.data());
  expect(read_back<int64_t>(total, 1)[0] == expected_sum, "reduce_sum of 2^31 + 4113 bytes");
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
  many_threads_share_a_descriptor();
  replays_after_its_scope<rt::Softmax>("softmax: a captured first execute replays after its descriptor is gone", dense({64, 1000}),
                                       dense({64, 1000}), int32_t{1});
  replays_after_its_scope<rt::Softmax>("softmax of one long row: the same", dense({1, 500000}), dense({1, 500000}), int32_t{1});
  replays_after_its_scope<rt::ReduceSum>("reduce_sum of one long row: the same", dense({1, 1000000}), dense({1}),
                                         std::vector<int32_t>{1}, false);
  replays_after_its_scope<rt::Copy>("copy, transposed: the same", transposed(dense({300, 200}), 0, 1), dense({200, 300}));
  sizes_past_2_31();
  softmax_past_2_31();
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
