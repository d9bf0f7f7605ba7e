// Einsum: sums of products over dimensions that an equation names, such as "bij,bjk->bik". Operands
// are joined one after the other: each step is a matrix product, between transposes and reshapes.
#include "intaglio/nn/formats/onnx/einsum.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace intaglio::nn::onnx {
namespace {

// A dimension's name: a letter, or a number below it for the dimensions that an ellipsis stands
// for, counted from the last.
using Label = int;
using Labels = std::vector<Label>;

constexpr size_t kMostLabels = 64;  // of one operand
constexpr Label kEllipsis = -1;

bool Has(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

struct Equation {
  std::vector<Labels> operands;  // with kEllipsis
  Labels result;
  bool has_result = false;
};

// Appends the labels of a term. Fails where it is none.
Labels ReadTerm(Translation& t, const std::string& term) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    const auto c = static_cast<unsigned char>(term[i]);
    if (std::isalpha(c) != 0) {
      labels.push_back(c);
    } else if (term.compare(i, 3, "...") == 0 && !Has(labels, kEllipsis)) {
      labels.push_back(kEllipsis);
      i += 2;
    } else {
      t.Invalid("the equation is damaged");
      return {};
    }
  }
  if (labels.size() > kMostLabels) t.Invalid("the equation is too long");
  return labels;
}

Equation ReadEquation(Translation& t) {
  std::string text = t.String("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  Equation equation;
  const size_t arrow = text.find("->");
  if (arrow != std::string::npos) {
    equation.has_result = true;
    equation.result = ReadTerm(t, text.substr(arrow + 2));
    text.resize(arrow);
  }
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    equation.operands.push_back(ReadTerm(t, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (equation.operands.size() != t.input_count()) {
    t.Invalid("the equation has " + std::to_string(equation.operands.size()) +
              " terms for another number of inputs");
  }
  return equation;
}

// Puts as many numbers as `hidden` in the place of the ellipsis, the last dimension's 0.
Labels Expanded(const Labels& labels, size_t hidden) {
  Labels expanded;
  for (const Label label : labels) {
    if (label != kEllipsis) {
      expanded.push_back(label);
      continue;
    }
    for (size_t i = hidden; i-- > 0;) expanded.push_back(static_cast<Label>(i));
  }
  return expanded;
}

// A tensor and the names of its dimensions, each of which occurs once.
struct Operand {
  TensorId id = kNoTensor;
  Labels labels;
};

// The order of `labels` among those of the operand, which has them all.
std::vector<int> OrderOf(const Operand& operand, const Labels& labels) {
  std::vector<int> order;
  for (const Label label : labels) {
    const auto found = std::find(operand.labels.begin(), operand.labels.end(), label);
    order.push_back(static_cast<int>(found - operand.labels.begin()));
  }
  return order;
}

class Contraction {
 public:
  explicit Contraction(Translation& t) : t_(t), make_(t.make) {}

  TensorId Run() {
    Equation equation = ReadEquation(t_);
    FindOperands(equation);
    const Labels result = ResultOf(equation);
    for (Operand& operand : operands_) DropOnes(operand);
    Operand sum = operands_[0];
    for (size_t i = 1; i < operands_.size(); ++i) {
      Labels needed = result;
      for (size_t k = i + 1; k < operands_.size(); ++k) {
        needed.insert(needed.end(), operands_[k].labels.begin(), operands_[k].labels.end());
      }
      sum = Joined(sum, operands_[i], needed);
    }
    sum = SummedTo(sum, result);
    return Finished(sum, result);
  }

 private:
  // Names the inputs' dimensions, and takes the diagonals of those that have one name twice.
  void FindOperands(const Equation& equation) {
    for (size_t i = 0; i < equation.operands.size(); ++i) {
      const Labels& named = equation.operands[i];
      const auto rank = static_cast<size_t>(t_.rank(i));
      const bool open = Has(named, kEllipsis);
      const size_t letters = named.size() - (open ? 1 : 0);
      if (open ? rank < letters || rank > kMostLabels : rank != letters) {
        return t_.Invalid("term " + std::to_string(i) + " does not fit an input of " +
                          std::to_string(rank) + " dimensions");
      }
      hidden_ = std::max(hidden_, rank - letters);
      Operand operand = {t_.in(i), Expanded(named, rank - letters)};
      while (TakeDiagonal(operand)) {
      }
      const Shape& shape = make_.ShapeOf(operand.id);
      for (size_t d = 0; d < shape.size(); ++d) Meet(operand.labels[d], shape[d]);
      operands_.push_back(std::move(operand));
    }
  }

  // Dimensions of one name have one extent; those of 1 are as if repeated.
  void Meet(Label label, int extent) {
    const auto [known, is_new] = extents_.emplace(label, extent);
    if (is_new || known->second == extent || extent == 1) return;
    if (known->second != 1) return t_.Invalid("dimensions of one name differ");
    known->second = extent;
  }

  // Makes one dimension of the first two with the same name. Returns whether there were any.
  bool TakeDiagonal(Operand& operand) {
    Labels& labels = operand.labels;
    for (size_t i = 0; i < labels.size(); ++i) {
      const auto again =
          std::find(labels.begin() + static_cast<ptrdiff_t>(i) + 1, labels.end(), labels[i]);
      if (again == labels.end()) continue;
      operand.id = Diagonal(operand.id, i, static_cast<size_t>(again - labels.begin()));
      const Label label = labels[i];
      labels.erase(again);
      labels.erase(labels.begin() + static_cast<ptrdiff_t>(i));
      labels.push_back(label);
      return true;
    }
    return false;
  }

  // The two dimensions become one, the last.
  TensorId Diagonal(TensorId id, size_t first, size_t second) {
    const Shape shape = make_.ShapeOf(id);
    const int extent = shape[first];
    if (shape[second] != extent) {
      t_.Invalid("dimensions of one name differ");
      return kNoTensor;
    }
    std::vector<int> order;
    Shape joined;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d == first || d == second) continue;
      order.push_back(static_cast<int>(d));
      joined.push_back(shape[d]);
    }
    order.push_back(static_cast<int>(first));
    order.push_back(static_cast<int>(second));
    const Shape square = ToInts(t_, {int64_t{extent} * extent}, "a dimension");
    joined.push_back(square[0]);
    StridedSlice slice;
    slice.begin.assign(joined.size(), 0);
    slice.end = joined;
    slice.strides.assign(joined.size(), 1);
    slice.strides.back() = extent + 1;
    return make_.AddLike(slice, {make_.Reshaped(make_.Transposed(id, order), joined)});
  }

  // The names of the result's dimensions. Where the equation has none: those that an ellipsis
  // stands for, and the letters that occur once, in their order.
  Labels ResultOf(const Equation& equation) {
    if (!equation.has_result) return ImpliedResult(equation);
    const Labels result = Expanded(equation.result, hidden_);
    Labels sorted = result;
    std::sort(sorted.begin(), sorted.end());
    const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    const bool unknown = std::any_of(result.begin(), result.end(), [&](Label label) {
      return extents_.find(label) == extents_.end();
    });
    if (twice || unknown) t_.Invalid("the result's dimensions are not those of the inputs");
    return result;
  }

  Labels ImpliedResult(const Equation& equation) const {
    std::map<Label, int> counts;
    for (const Labels& labels : equation.operands) {
      for (const Label label : labels) ++counts[label];
    }
    Labels result = Expanded({kEllipsis}, hidden_);
    for (const auto& [label, count] : counts) {
      if (label != kEllipsis && count == 1) result.push_back(label);
    }
    return result;
  }

  int ExtentOf(Label label) const { return extents_.find(label)->second; }

  Shape ShapeFor(const Labels& labels) const {
    Shape shape;
    for (const Label label : labels) shape.push_back(ExtentOf(label));
    return shape;
  }

  // Drops dimensions of 1 that stand for more.
  void DropOnes(Operand& operand) {
    const Shape shape = make_.ShapeOf(operand.id);
    Operand left;
    Shape left_shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] != ExtentOf(operand.labels[d])) continue;
      left.labels.push_back(operand.labels[d]);
      left_shape.push_back(shape[d]);
    }
    operand = {make_.Reshaped(operand.id, left_shape), left.labels};
  }

  // The operand summed over all dimensions but these.
  Operand SummedTo(const Operand& operand, const Labels& kept) {
    Sum sum;
    Labels left;
    for (size_t d = 0; d < operand.labels.size(); ++d) {
      if (Has(kept, operand.labels[d])) {
        left.push_back(operand.labels[d]);
      } else {
        sum.axes.push_back(static_cast<int>(d));
      }
    }
    if (sum.axes.empty()) return operand;
    return {make_.AddLike(sum, {operand.id}), left};
  }

  // As three dimensions: those of each list, in its order.
  TensorId AsMatrices(const Operand& operand, const Labels& batch, const Labels& rows,
                      const Labels& columns) {
    Labels all = batch;
    all.insert(all.end(), rows.begin(), rows.end());
    all.insert(all.end(), columns.begin(), columns.end());
    const Shape shape = ToInts(t_, {Extents(batch), Extents(rows), Extents(columns)}, "a matrix");
    return make_.Reshaped(make_.Transposed(operand.id, OrderOf(operand, all)), shape);
  }
  int64_t Extents(const Labels& labels) const { return Count(ShapeFor(labels)); }

  // The product of two, summed over the dimensions that nothing else needs.
  Operand Joined(const Operand& first, const Operand& second, const Labels& needed) {
    Labels kept_of_first = needed;
    kept_of_first.insert(kept_of_first.end(), second.labels.begin(), second.labels.end());
    Labels kept_of_second = needed;
    kept_of_second.insert(kept_of_second.end(), first.labels.begin(), first.labels.end());
    const Operand a = SummedTo(first, kept_of_first);
    const Operand b = SummedTo(second, kept_of_second);
    Labels batch;
    Labels summed;
    Labels rows;
    Labels columns;
    for (const Label label : a.labels) {
      if (!Has(b.labels, label)) {
        rows.push_back(label);
      } else {
        (Has(needed, label) ? batch : summed).push_back(label);
      }
    }
    for (const Label label : b.labels) {
      if (!Has(a.labels, label)) columns.push_back(label);
    }
    const TensorId product = make_.AddLike(
        BatchMatMul{}, {AsMatrices(a, batch, rows, summed), AsMatrices(b, batch, summed, columns)});
    Labels all = batch;
    all.insert(all.end(), rows.begin(), rows.end());
    all.insert(all.end(), columns.begin(), columns.end());
    return {make_.Reshaped(product, ShapeFor(all)), all};
  }

  // In the order of the result, with the dimensions that all operands have as 1.
  TensorId Finished(const Operand& sum, const Labels& result) {
    return make_.Reshaped(make_.Transposed(sum.id, OrderOf(sum, result)), ShapeFor(result));
  }

  Translation& t_;
  LayerMaker& make_;
  size_t hidden_ = 0;  // the most dimensions that an ellipsis stands for
  std::map<Label, int> extents_;
  std::vector<Operand> operands_;
};

}  // namespace

void ReadEinsum(Translation& t) { t.Set(0, Contraction(t).Run()); }

}  // namespace intaglio::nn::onnx
