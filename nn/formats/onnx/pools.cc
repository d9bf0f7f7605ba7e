// Pools. Those of images and lines without dilations have operators. The others, such as those of
// three spatial dimensions, gather all windows and reduce them.
#include "intaglio/nn/formats/onnx/pools.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/images.h"

namespace intaglio::nn::onnx {
namespace {

// The window of each spatial dimension of images [N, C, ...]. Empty after an error.
std::vector<WindowAxis> PoolAxes(Translation& t, TensorId images) {
  const std::vector<int> kernel = ToInts(t, t.Ints("kernel_shape"), "kernel_shape");
  const Shape& x = t.make.ShapeOf(images);
  constexpr int kMost = 1 << 24;
  const bool valid = std::all_of(kernel.begin(), kernel.end(),
                                 [](int extent) { return extent >= 1 && extent <= kMost; });
  if (!valid || x.size() < 3 || kernel.size() != x.size() - 2) {
    t.Invalid("attribute 'kernel_shape' does not fit the images");
    return {};
  }
  std::vector<WindowAxis> axes = WindowAxes(t, kernel, Shape(x.begin() + 2, x.end()));
  return axes;
}

bool HasDilation(const std::vector<WindowAxis>& axes) {
  return std::any_of(axes.begin(), axes.end(), [](const WindowAxis& a) { return a.dilation > 1; });
}
bool HasPadding(const std::vector<WindowAxis>& axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [](const WindowAxis& a) { return a.before + a.behind + a.rounding > 0; });
}
bool IsRoundedUp(const std::vector<WindowAxis>& axes) {
  return std::any_of(axes.begin(), axes.end(), [](const WindowAxis& a) { return a.rounding > 0; });
}

// Whether the operators of images have such windows.
bool IsPlain(const std::vector<WindowAxis>& axes) { return axes.size() <= 2 && !HasDilation(axes); }

Window2D PlainWindow(const std::vector<WindowAxis>& axes) {
  return axes.size() == 1 ? Window2D::Of(WindowAxis{}, axes[0]) : Window2D::Of(axes[0], axes[1]);
}

std::vector<WindowAxis> WithoutRounding(std::vector<WindowAxis> axes) {
  for (WindowAxis& axis : axes) axis.rounding = 0;
  return axes;
}

// All windows over images whose spatial dimensions are seen as one.
struct Windows {
  Shape out;                     // the spatial dimensions of the output
  int64_t count = 0;             // of windows
  int64_t size = 1;              // elements of a window
  int64_t image = 1;             // elements of an image
  std::vector<int64_t> places;   // window by window; kPadding, kNothing: outside of the image
  std::vector<int64_t> columns;  // the same counted along columns first

  static constexpr int64_t kPadding = -1;
  static constexpr int64_t kNothing = -2;  // only rounding up reaches it
};

// Where element k of window o lies in one dimension.
int64_t PlaceIn(const WindowAxis& axis, int64_t o, int64_t k) {
  const int64_t place = o * axis.stride + k * axis.dilation - axis.before;
  if (place >= axis.image + axis.behind) return Windows::kNothing;
  return place < 0 || place >= axis.image ? Windows::kPadding : place;
}

// The place of element `k` of window `o`, both counted over all dimensions.
void AddPlace(const std::vector<WindowAxis>& axes, int64_t o, int64_t k, Windows& windows) {
  int64_t place = 0;
  int64_t column = 0;
  int64_t stride = 1;  // of the dimension in the image
  int64_t outside = 0;
  int64_t column_stride = windows.image;
  for (size_t d = axes.size(); d-- > 0;) {
    const WindowAxis& axis = axes[d];
    const int64_t at = PlaceIn(axis, o % axis.windows(), k % axis.filter);
    outside = std::min(outside, at);
    o /= axis.windows();
    k /= axis.filter;
    column_stride /= axis.image;
    place += at * stride;
    column += at * column_stride;
    stride *= axis.image;
  }
  windows.places.push_back(outside < 0 ? outside : place);
  windows.columns.push_back(outside < 0 ? outside : column);
}

Windows WindowsOf(Translation& t, const std::vector<WindowAxis>& axes) {
  Windows windows;
  constexpr int64_t kMost = int64_t{1} << 30;
  windows.count = 1;
  for (const WindowAxis& axis : axes) {
    windows.out.push_back(static_cast<int>(axis.windows()));
    for (auto [product, factor] :
         {std::pair(&windows.count, axis.windows()), std::pair(&windows.size, axis.filter),
          std::pair(&windows.image, axis.image)}) {
      *product *= factor;
      if (*product < 1 || *product > kMost) {
        t.Refuse("such windows are not supported");
        return windows;
      }
    }
  }
  const int64_t all = windows.count * windows.size;  // < 2^61
  if (all > kMost) t.Refuse("so many windows are not supported");
  t.make.CheckMemory(static_cast<size_t>(all) * 4 * sizeof(int64_t));
  for (int64_t o = 0; o < windows.count; ++o) {
    for (int64_t k = 0; k < windows.size; ++k) AddPlace(axes, o, k, windows);
  }
  return windows;
}

// Elements of x [N, C, image...] at the places, as [N, C, windows, elements of one].
TensorId Gathered(Translation& t, TensorId x, const Windows& windows, std::vector<int64_t> places) {
  LayerMaker& make = t.make;
  const int all = static_cast<int>(places.size());
  const TensorId indices = make.Constant<int64_t>(std::move(places), {all});
  const TensorId gathered = make.AddLike(Gather{2}, {x, indices});
  const Shape& shape = make.ShapeOf(x);
  const Shape apart = {shape[0], shape[1], static_cast<int>(windows.count),
                       static_cast<int>(windows.size)};
  return make.Reshaped(gathered, apart);
}

// [N, C, image]
TensorId Flattened(Translation& t, TensorId x, const Windows& windows) {
  const Shape shape = t.make.ShapeOf(x);
  return t.make.Reshaped(x, {shape[0], shape[1], static_cast<int>(windows.image)});
}

// [N, C, windows] with the spatial dimensions of the output.
TensorId Unflattened(Translation& t, TensorId id, const Windows& windows) {
  const Shape from = t.make.ShapeOf(id);
  Shape shape = {from[0], from[1]};
  shape.insert(shape.end(), windows.out.begin(), windows.out.end());
  return t.make.Reshaped(id, std::move(shape));
}

// Elements outside of the image become others of their window, which changes no maximum.
bool FillByNeighbours(Translation& t, const Windows& windows, std::vector<int64_t>& places) {
  const auto size = static_cast<ptrdiff_t>(windows.size);
  for (auto window = places.begin(); window != places.end(); window += size) {
    const auto inside =
        std::find_if(window, window + size, [](int64_t place) { return place >= 0; });
    if (inside == window + size) {
      t.Refuse("windows that lie in padding only are not supported");
      return false;
    }
    std::replace_if(
        window, window + size, [](int64_t place) { return place < 0; }, *inside);
  }
  return true;
}

// Where the maxima lie in input 0, counted over all its elements. `table` has the place in an image
// of each element of each window.
TensorId PlacesOfMaxima(Translation& t, TensorId gathered, const Windows& windows,
                        const std::vector<int64_t>& table) {
  LayerMaker& make = t.make;
  const int count = static_cast<int>(windows.count);
  std::vector<int64_t> first_of_window;
  for (int64_t o = 0; o < windows.count; ++o) first_of_window.push_back(o * windows.size);
  const TensorId in_window = make.Add(ArgMax{3}, {gathered}, Type::kInt64);
  const TensorId entry =
      make.AddLike(Add{}, {in_window, make.Constant<int64_t>(std::move(first_of_window), {count})});
  const int entries = static_cast<int>(table.size());
  const TensorId in_image =
      make.AddLike(Gather{0}, {make.Constant<int64_t>(table, {entries}), entry});
  const Shape& x = t.input(0).shape;
  const int images = static_cast<int>(int64_t{x[0]} * x[1]);
  const TensorId starts = make.AddLike(
      Sequence{},
      {make.Scalar<int64_t>(0), make.Scalar(images * windows.image), make.Scalar(windows.image)});
  return make.AddLike(Add{}, {in_image, make.Reshaped(starts, {x[0], x[1], 1})});
}

void MaxPoolByGather(Translation& t, const std::vector<WindowAxis>& axes) {
  LayerMaker& make = t.make;
  Windows windows = WindowsOf(t, axes);
  if (!FillByNeighbours(t, windows, windows.places)) return;
  const TensorId x = Flattened(t, t.in(0), windows);
  const TensorId gathered = Gathered(t, x, windows, windows.places);
  t.Set(0, Unflattened(t, make.AddLike(IeeeReduction<ReduceMax>({3}, false), {gathered}), windows));
  if (!t.wants(1)) return;
  const bool by_columns = t.Flag("storage_order", false);
  if (by_columns) FillByNeighbours(t, windows, windows.columns);
  const TensorId places =
      PlacesOfMaxima(t, gathered, windows, by_columns ? windows.columns : windows.places);
  t.Set(1, Unflattened(t, places, windows));
}

// Sums over windows, [N, C, windows]; what is outside of the image counts as 0.
TensorId WindowSums(Translation& t, TensorId x, const Windows& windows) {
  LayerMaker& make = t.make;
  Pad pad;
  pad.paddings = {{0, 0}, {0, 0}, {0, 1}};  // the zero that stands for all outside
  const TensorId padded = make.AddLike(pad, {Flattened(t, x, windows)});
  std::vector<int64_t> places = windows.places;
  std::replace_if(
      places.begin(), places.end(), [](int64_t place) { return place < 0; }, windows.image);
  return make.AddLike(Sum{{3}, false}, {Gathered(t, padded, windows, std::move(places))});
}

// By how many elements the sum of each window is divided.
std::vector<float> Divisors(const Windows& windows, bool counts_padding) {
  std::vector<float> divisors;
  const auto size = static_cast<ptrdiff_t>(windows.size);
  const int64_t least = counts_padding ? Windows::kPadding : 0;
  for (auto window = windows.places.begin(); window != windows.places.end(); window += size) {
    const auto count =
        std::count_if(window, window + size, [&](int64_t place) { return place >= least; });
    divisors.push_back(static_cast<float>(std::max<ptrdiff_t>(count, 1)));
  }
  return divisors;
}

TensorId AveragePoolByGather(Translation& t, TensorId x, const std::vector<WindowAxis>& axes,
                             bool counts_padding) {
  const Windows windows = WindowsOf(t, axes);
  const TensorId sums = WindowSums(t, x, windows);
  const TensorId divisors =
      t.make.Constant<float>(Divisors(windows, counts_padding), {static_cast<int>(windows.count)});
  return Unflattened(t, t.make.AddLike(Ieee<Div>(), {sums, divisors}), windows);
}

// Counted padding is zeros that are there.
TensorId PadByZeros(LayerMaker& make, TensorId id, const Padding& p) {
  Pad pad;
  pad.paddings = {{0, 0}, {p.top, p.bottom}, {p.left, p.right}, {0, 0}};
  return make.AddLike(pad, {id});
}

TensorId Powers(LayerMaker& make, TensorId x, float exponent) {
  if (exponent == 2.0f || exponent == 3.0f) return SquareOrCube(make, x, exponent == 3.0f);
  return make.AddLike(Pow{}, {x, make.Scalar(exponent)});
}

// Sums over windows in the order of the output.
TensorId SumsOfWindows(Translation& t, TensorId x, const std::vector<WindowAxis>& axes) {
  LayerMaker& make = t.make;
  if (!IsPlain(axes)) {
    const Windows windows = WindowsOf(t, axes);
    return Unflattened(t, WindowSums(t, x, windows), windows);
  }
  const Images images = Images::Of(t, x);
  const Window2D window = PlainWindow(axes);
  const AveragePool2D pool = {window.filter, window.stride, Padding::Valid()};
  const TensorId means = make.AddLike(pool, {PadByZeros(make, images.nhwc, window.padding)});
  const auto count = static_cast<float>(int64_t{window.filter.height} * window.filter.width);
  return images.Back(make, make.AddLike(Ieee<Mul>(), {means, make.Scalar(count)}));
}

}  // namespace

void ReadMaxPool(Translation& t) {
  LayerMaker& make = t.make;
  const std::vector<WindowAxis> axes = PoolAxes(t, t.in(0));
  if (!IsPlain(axes) || t.wants(1)) return MaxPoolByGather(t, axes);
  // The operator takes bytes with a quantization only, though maxima need none.
  const bool plain_bytes =
      t.input(0).type != Type::kFloat32 && !t.input(0).quantization.quantized();
  const TensorId x = plain_bytes ? make.Requantized(t.in(0), {{1.0f}, {0}}) : t.in(0);
  const Images images = Images::Of(t, x);
  const Window2D window = PlainWindow(axes);
  const MaxPool2D pool = {window.filter, window.stride, window.padding};
  const TensorId maxima = images.Back(make, make.AddLike(pool, {images.nhwc}));
  t.Set(0, plain_bytes ? make.Unquantized(maxima) : maxima);
}

TensorId AveragePool(Translation& t, TensorId x) {
  LayerMaker& make = t.make;
  const std::vector<WindowAxis> axes = PoolAxes(t, x);
  const bool counts_padding = t.Flag("count_include_pad", false) && HasPadding(axes);
  if (!IsPlain(axes) || (counts_padding && IsRoundedUp(axes))) {
    return AveragePoolByGather(t, x, axes, counts_padding);
  }
  const Images images = Images::Of(t, x);
  const Window2D window = PlainWindow(axes);
  AveragePool2D pool = {window.filter, window.stride, window.padding};
  TensorId image = images.nhwc;
  if (counts_padding) {
    image = PadByZeros(make, image, window.padding);
    pool.padding = Padding::Valid();
  }
  return images.Back(make, make.AddLike(pool, {image}));
}

TensorId BytePool(Translation& t, TensorId x, const Sums& to) {
  const std::vector<WindowAxis> axes = PoolAxes(t, x);
  if (axes.empty() || !IsPlain(axes)) return kNoTensor;
  const Images images = Images::Of(t, x);
  const Window2D window = PlainWindow(axes);
  QLinearAveragePool2D pool = {window.filter, window.stride, window.padding,
                               Padding::Explicit(0, 0, 0, 0)};
  if (t.Flag("count_include_pad", false)) pool.counted = PlainWindow(WithoutRounding(axes)).padding;
  return images.Back(t.make,
                     t.make.Add(pool, {images.nhwc}, to.type, to.quantization, to.numerics));
}

void ReadAveragePool(Translation& t) { t.Set(0, AveragePool(t, t.in(0))); }

// The p-th root of the sum of p-th powers.
void ReadLpPool(Translation& t) {
  LayerMaker& make = t.make;
  const auto p = static_cast<float>(t.IntWithin("p", 2, 1, 1 << 10));
  const std::vector<WindowAxis> axes = PoolAxes(t, t.in(0));
  const TensorId powers = Powers(make, make.AddLike(Abs{}, {t.in(0)}), p);
  t.Set(0, Powers(make, SumsOfWindows(t, powers, axes), 1 / p));
}

}  // namespace intaglio::nn::onnx
