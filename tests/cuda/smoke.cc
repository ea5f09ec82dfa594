// Every kind of kernel of every operator on the GPU, once or twice, against the cpu backend. Small enough for compute-sanitizer: at
// most 150 launches (kernels that split or fold take two or three). Prints each case that fails; exit code 1 if one does, 77 where
// there is no GPU.
#include <array>
#include <set>
#include <utility>

#include "device.h"

namespace {

using namespace cuda_test;

int num_cases = 0;
int num_failures = 0;
std::set<std::string> implementations;

// One side of a comparison: storages on one device, and the call on them.
template <class Op, size_t N, size_t... K, class... Attributes>
std::string run(oprt_device_t device, const oprt_tensor_view_t& out, const std::array<oprt_tensor_view_t, N>& in,
                std::index_sequence<K...>, const Attributes&... attributes) {
  const rt::Prepared<Op> prepared(OPRT_BACKEND_AUTO, rt::View(out), rt::ConstView(in[K])..., attributes...);
  const bool on_gpu = device.type == OPRT_DEVICE_CUDA;
  const DeviceMemory gpu(on_gpu ? prepared.workspace_size() : 0);
  const rt::Workspace cpu(on_gpu ? 0 : prepared.workspace_size());
  if (gpu.size() > 0) cuda(cudaMemset(gpu.data(), 0xff, gpu.size()), "cudaMemset");
  prepared.execute({on_gpu ? gpu.data() : cpu.data(), prepared.workspace_size(), nullptr}, out.data,
                   static_cast<const void*>(in[K].data)...);
  if (on_gpu) cuda(cudaDeviceSynchronize(), prepared.implementation());
  return prepared.implementation();
}

// Runs Op on the cpu and on the GPU from the same bytes and compares out's whole storage, gaps included.
template <class Op, size_t N, class... Attributes>
void compare(const std::string& name, oprt_dtype_t in_dtype, oprt_dtype_t out_dtype, const Tolerance& tolerance,
             const std::array<Layout, N>& in_layouts, const Layout& out_layout, const Attributes&... attributes) {
  const std::vector<char> before = random_elements(out_dtype, out_layout.storage, 1);
  std::vector<char> expected = before;
  std::vector<char> actual = before;
  const DeviceMemory device_out(before.size());
  cuda(cudaMemcpy(device_out.data(), before.data(), before.size(), cudaMemcpyHostToDevice), "cudaMemcpy");

  std::array<std::vector<char>, N> host;
  std::vector<DeviceMemory> device;
  std::array<oprt_tensor_view_t, N> host_in;
  std::array<oprt_tensor_view_t, N> device_in;
  for (size_t k = 0; k < N; ++k) {
    host[k] = random_elements(in_dtype, in_layouts[k].storage, static_cast<uint32_t>(k + 2));
    device.emplace_back(host[k].size());
    cuda(cudaMemcpy(device[k].data(), host[k].data(), host[k].size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    host_in[k] = view_of(in_layouts[k], in_dtype, host[k].data(), rt::kCpu);
    device_in[k] = view_of(in_layouts[k], in_dtype, device[k].data(), kGpu);
  }

  constexpr auto kInputs = std::make_index_sequence<N>();
  run<Op>(rt::kCpu, view_of(out_layout, out_dtype, expected.data(), rt::kCpu), host_in, kInputs, attributes...);
  const std::string implementation =
      run<Op>(kGpu, view_of(out_layout, out_dtype, device_out.data(), kGpu), device_in, kInputs, attributes...);
  cuda(cudaMemcpy(actual.data(), device_out.data(), actual.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");

  ++num_cases;
  implementations.insert(name + "/" + implementation);
  const std::string wrong = difference(out_dtype, actual, expected, tolerance);
  if (wrong.empty()) return;
  ++num_failures;
  std::printf("%s %s (%s): %s\n", name.c_str(), oprt_dtype_name(in_dtype), implementation.c_str(), wrong.c_str());
}

void copies() {
  for (const oprt_dtype_t dtype : {OPRT_DTYPE_INT8, OPRT_DTYPE_BFLOAT16, OPRT_DTYPE_FLOAT32, OPRT_DTYPE_COMPLEX128}) {
    const auto copy = [&](const Layout& in, const Layout& out) { compare<rt::Copy, 1>("copy", dtype, dtype, {}, {in}, out); };
    copy(dense({4097}), dense({4097}));
    copy(dense({1025}, 3), dense({1025}, 1));
    copy(pitched(33, 129, 200, 1), dense({33, 129}));
    copy(transposed(dense({70, 65}), 0, 1), dense({65, 70}));
    copy(stepped(1000, -3), stepped(1000, 2));
    copy(transposed(dense({3, 17, 5, 33}), 1, 3), dense({3, 33, 5, 17}));
  }
}

void additions() {
  for (const oprt_dtype_t dtype : {OPRT_DTYPE_INT8, OPRT_DTYPE_FLOAT16, OPRT_DTYPE_FLOAT32}) {
    const auto add = [&](const Layout& a, const Layout& b, const Layout& out) {
      compare<rt::VectorAdd, 2>("vector_add", dtype, dtype, {}, {a, b}, out);
    };
    add(dense({4097}), dense({4097}), dense({4097}));
    add(dense({1025}, 1), dense({1025}, 2), dense({1025}, 3));
    add(dense({33, 129}), dense({129}), dense({33, 129}));
    add(dense({33, 128}), dense({33, 1}), dense({33, 128}));
    add(dense({33, 129}), dense({}), dense({33, 129}));
    add(transposed(dense({70, 65}), 0, 1), dense({65, 70}), dense({65, 70}));
    add(stepped(1000, 2), stepped(1000, -3), dense({1000}));
  }
}

void sums() {
  const std::vector<int32_t> last{-1};
  const std::vector<int32_t> first{0};
  struct Types {
    oprt_dtype_t in, out;
    double unit;  // of the result's rounding
  };
  for (const auto& [in, out, unit] :
       {Types{OPRT_DTYPE_FLOAT32, OPRT_DTYPE_FLOAT32, 0x1p-24}, Types{OPRT_DTYPE_BFLOAT16, OPRT_DTYPE_FLOAT32, 0x1p-24},
        Types{OPRT_DTYPE_FLOAT16, OPRT_DTYPE_FLOAT16, 0x1p-11}, Types{OPRT_DTYPE_INT8, OPRT_DTYPE_INT64, 0}}) {
    // Both sides are within (64 + log2 n) u sum|x| of the exact sum, and |x| <= 2; a 16-bit result rounds once more.
    const auto sum = [&, in = in, out = out, unit = unit](int64_t n, const Layout& x, const Layout& y,
                                                          const std::vector<int32_t>& dims) {
      const double terms = static_cast<double>(n);
      const double tolerance = unit == 0 ? 0 : 2 * (64 + std::log2(terms)) * 0x1p-24 * 2 * terms + 2 * unit * 2 * terms;
      compare<rt::ReduceSum, 1>("reduce_sum", in, out, {tolerance, 0}, {x}, y, dims, false);
    };
    sum(7, dense({1000, 7}, 1), dense({1000}), last);
    sum(300000, dense({2, 300000}), dense({2}), last);
    sum(129, dense({129, 70}), dense({70}), first);
    sum(5000, dense({5000, 8}), dense({8}), first);
    sum(33, dense({5, 33, 70}), dense({5, 70}), {1});
    sum(15, dense({3, 33, 5}), dense({33}), {0, 2});
    sum(4097, dense({33, 4097}), dense({33}), last);
    sum(500, stepped(500, -3), dense({}), {});
  }
}

void softmaxes() {
  struct Types {
    oprt_dtype_t dtype;
    double tolerance;  // relative: in float32 and float64 some roundings, in bfloat16 one of either side
  };
  for (const auto& [dtype, tolerance] :
       {Types{OPRT_DTYPE_FLOAT32, 1e-5}, Types{OPRT_DTYPE_BFLOAT16, 0x1p-7}, Types{OPRT_DTYPE_FLOAT64, 1e-13}}) {
    const auto softmax = [&, dtype = dtype, tolerance = tolerance](const Layout& x, const Layout& y, int32_t dim) {
      compare<rt::Softmax, 1>("softmax", dtype, dtype, {0, tolerance}, {x}, y, dim);
    };
    softmax(dense({33, 7}), dense({33, 7}), -1);
    softmax(dense({37, 64}), dense({37, 64}), -1);
    softmax(dense({17, 129}, 1), dense({17, 129}, 3), -1);
    softmax(dense({9, 1024}), dense({9, 1024}), -1);
    softmax(dense({5, 5001}), dense({5, 5001}), -1);
    softmax(dense({3, 12345}, 1), dense({3, 12345}, 2), -1);
    softmax(dense({97, 20001}), dense({97, 20001}), -1);
    softmax(dense({97, 34001}), dense({97, 34001}), -1);
    softmax(dense({1, 70000}), dense({1, 70000}), -1);
    softmax(dense({2, 400000}), dense({2, 400000}), -1);
    softmax(dense({129, 70}), dense({129, 70}), 0);
    softmax(dense({3000, 5}), dense({3000, 5}), 0);
    softmax(dense({3, 33, 20}), dense({3, 33, 20}), 1);
    softmax(transposed(dense({65, 70}), 0, 1), dense({70, 65}), -1);
    softmax(stepped(300, -2), stepped(300, 3), 0);
  }
}

}  // namespace

int main() try {
  require_gpu();
  copies();
  additions();
  sums();
  softmaxes();
  for (const std::string& name : implementations) std::printf("%s\n", name.c_str());
  std::printf("smoke: %d cases, %d failed\n", num_cases, num_failures);
  return num_failures == 0 ? 0 : 1;
} catch (const operator_runtime::Error& error) {
  std::fprintf(stderr, "smoke: %s\n", error.what());
  return 1;
}
