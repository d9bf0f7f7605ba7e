// The one file that includes CLI11, which takes longer to compile than all else of the command.
#include "intaglio/tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "intaglio/tools/commands.h"
#include "intaglio/tools/suggest.h"

namespace intaglio::tools {
namespace {

// Each Add function declares the options of one subcommand; what it puts into `work` is run after
// the command line has been understood.

// Accepts a real number from `low` to `high`. CLI::Range would also accept NaN.
CLI::Validator Between(double low, double high) {
  const std::string range =
      "[" + CLI::detail::to_string(low) + ", " + CLI::detail::to_string(high) + "]";
  return CLI::Validator(
      [=](std::string& text) {
        double value = 0;
        const bool inside = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return inside ? std::string() : "Value " + text + " is not in " + range;
      },
      "FLOAT in " + range);
}

// CLI::PositiveNumber would name the largest double.
CLI::Validator Positive() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value > 0;
        return good ? std::string() : "Value " + text + " is not above 0";
      },
      "POSITIVE");
}

// An option with one value each time it is given, as often as needed. Without this, CLI11 would
// give it all words up to the next option, such as the name of the model.
CLI::Option* AddList(CLI::App& command, const char* name, std::vector<std::string>& values,
                     const char* help) {
  return command.add_option(name, values, help)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddModel(CLI::App& command, ModelSource& model) {
  constexpr bool kThousands = false;  // so k means 1024
  command.add_option("MODEL", model.path, "A .tflite or an .onnx file")->required();
  command
      .add_option(
          "--max-memory", model.limits.max_bytes,
          "Bytes that reading and preparing the model may each take, such as 512M; 0: 4 GiB "
          "and 16 times the model's size")
      ->transform(CLI::AsSizeValue(kThousands));
  command
      .add_option("--max-work", model.limits.max_work,
                  "Steps that one run may take: multiply-accumulates and the like")
      ->check(Positive());
  AddList(command, "--operators", model.operators,
          "A shared library of custom operators that the model may have");
  AddList(command, "--shape", model.shapes,
          "[NAME=]1x3x224x224 for an input, in their order or by name; the others keep the "
          "file's shapes");
  AddList(command, "--constant", model.constants,
          "NAME=0,1 or NAME=FILE.npy: a value for an input, which becomes a constant when "
          "the file is read");
  command
      .add_option("--external-data", model.external_data,
                  "The folder with the constants that an .onnx file has beside it, if not its own")
      ->check(CLI::ExistingDirectory);
  command.add_flag("--ort-fused", model.ort_fused,
                   "Compute Add and Mul between DequantizeLinear and QuantizeLinear of an .onnx "
                   "file as ONNX Runtime's fused kernels do");
  command.add_flag("--nhwc-inputs", model.nhwc_inputs,
                   "Inputs of four dimensions of an .onnx file are N H W C instead of N C H W");
  command.add_flag("--float64-as-float32", model.float64_as_float32,
                   "Round float64 numbers of an .onnx file to float32 instead of refusing them");
  command.add_flag("--unfused-sums", model.unfused_sums,
                   "Round products of float32 before they are added, as TFLite's reference kernels "
                   "do, on every CPU");
  command
      .add_option("--winograd-weights", model.winograd_weights,
                  "Transform the weights of 3x3 convolutions when the model is loaded (kept: eight "
                  "times the memory) or in each run (per-call). Without it, small weights are kept")
      ->check(CLI::IsMember({"kept", "per-call"}));
  AddList(command, "--without-pass", model.without_passes,
          "A pass that shall not change the graph of an .onnx file (inspect --passes lists "
          "them)");
}

CLI::Option* AddDevice(CLI::App& command, ModelSource& model, const char* help) {
  return command.add_option("--device", model.device, help)->check(CLI::IsMember({"cuda"}));
}

void AddPlan(CLI::App& command, ModelSource& model) {
  CLI::Option* const plan = command.add_option(
      "--plan", model.plan, "How to compute each layer: a file of intaglio tune");
  command
      .add_flag("--strict", model.strict_plan,
                "Refuse a plan that does not fit here in every entry")
      ->needs(plan);
  AddDevice(command, model, "Where those layers run that the plan has on a device: cuda")
      ->needs(plan);
}

void AddThreads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "Threads to use")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void AddBackend(CLI::App& command, std::string& backend, const char* help) {
  command.add_option("--backend", backend, help)
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
}

void AddJson(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON (docs/cli.md describes it)");
}

CLI::Option* AddInputs(CLI::App& command, std::vector<std::string>& inputs, const char* help) {
  return AddList(command, "--input", inputs, help);
}

constexpr const char kSomeInputs[] =
    "[NAME=]FILE.npy for an input, in their order or by name; the others are made";

// One number, or one for each channel.
CLI::Option* AddImageScale(CLI::App& command, const char* name, std::vector<double>& values,
                           const CLI::Validator& range, const char* help) {
  return command.add_option(name, values, help)
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(range)
      ->capture_default_str();
}

void AddRun(CLI::App& run, Work& work) {
  const auto options = std::make_shared<RunOptions>();
  AddModel(run, options->model);
  CLI::Option* const inputs =
      AddInputs(run, options->inputs,
                "[NAME=]FILE.npy, for each input of the model, in its order or by name");
  run.add_flag("--resize", options->resize,
               "Give the inputs the shapes of their files, and the rest what follows from them")
      ->needs(inputs);
  CLI::Option* const image =
      run.add_option("--image", options->image, "A BMP, PGM or PPM file for the only input")
          ->excludes(inputs);
  AddImageScale(run, "--mean", options->mean, Between(-1e6, 1e6),
                "What is subtracted from an image's samples for float32 inputs")
      ->needs(image);
  AddImageScale(run, "--std", options->std, Between(1e-6, 1e6), "What they are then divided by")
      ->needs(image);
  run.add_option("--labels", options->labels,
                 "The names of an image classifier's classes, one per line");
  run.add_option("--top", options->top, "How many scores of a classifier to show")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  run.add_option("--output", options->output, "The folder where outputs are written as .npy files");
  AddThreads(run, options->threads);
  AddPlan(run, options->model);
  AddBackend(run, options->backend, "Where to run: cpu or cuda");
  run.callback([options, &run, &work] {
    options->scales_image = run.count("--mean") + run.count("--std") > 0;
    work = [options] { return Run(*options); };
  });
}

void AddInspect(CLI::App& inspect, Work& work) {
  const auto options = std::make_shared<InspectOptions>();
  AddModel(inspect, options->model);
  inspect.add_flag("--routines", options->routines,
                   "Show for each layer all routines that could compute it, or why not");
  inspect.add_flag("--passes", options->passes,
                   "Show what each pass did to the graph of an .onnx file");
  AddPlan(inspect, options->model);
  AddJson(inspect, options->json);
  inspect.callback([options, &work] { work = [options] { return Inspect(*options); }; });
}

void AddBench(CLI::App& bench, Work& work) {
  const auto options = std::make_shared<BenchOptions>();
  AddModel(bench, options->model);
  AddInputs(bench, options->inputs, kSomeInputs);
  AddThreads(bench, options->threads);
  AddPlan(bench, options->model);
  bench.add_option("--kernel", options->kernel, "The kernel to use (intaglio cpu lists them)");
  bench.add_option("--seconds", options->seconds, "How long to measure")
      ->check(Between(0, 3600))
      ->capture_default_str();
  bench.add_option("--html", options->html, "Write a page with plots");
  bench.add_option("--trace", options->trace, "Write Chrome trace events, which Perfetto opens");
  AddJson(bench, options->json);
  bench.callback([options, &work] { work = [options] { return Bench(*options); }; });
}

void AddVerify(CLI::App& verify, Work& work) {
  const auto options = std::make_shared<VerifyOptions>();
  AddModel(verify, options->model);
  AddInputs(verify, options->given, kSomeInputs);
  verify.add_option("--inputs", options->inputs, "How many random inputs to try")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  AddBackend(verify, options->backend, "What to compare with the portable kernel");
  verify.callback([options, &work] { work = [options] { return Verify(*options); }; });
}

void AddConstantsApart(CLI::App& command, bool& apart) {
  command.add_flag("--constants-apart", apart,
                   "Write constants of an .onnx file into FILE.data beside it, as files with "
                   "512 MiB of constants or more are always written");
}

void AddConvert(CLI::App& convert, Work& work) {
  const auto options = std::make_shared<ConvertOptions>();
  AddModel(convert, options->model);
  convert
      .add_option("OUTFILE,--output", options->output,
                  "The file to write, whose name ends in .tflite or .onnx")
      ->required();
  AddInputs(convert, options->inputs, kSomeInputs);
  convert.add_flag(
      "--finite", options->finite,
      "No layer computes infinities or NaN, which .tflite files cannot say that layers keep");
  convert.add_flag("!--no-verify", options->verify,
                   "Write without comparing the file with the model first");
  AddConstantsApart(convert, options->constants_apart);
  convert.callback([options, &work] { work = [options] { return Convert(*options); }; });
}

void AddPartition(CLI::App& partition, Work& work) {
  const auto options = std::make_shared<PartitionOptions>();
  AddModel(partition, options->model);
  partition
      .add_option("OUTDIR,--output", options->output, "The folder where the three are written")
      ->required();
  AddList(partition, "--sensor", options->sensors,
          "[NAME=]TYPE,MEAN,SCALE for an input fed by a sensor: real = scale (raw - mean)");
  partition.add_option("--format", options->format, "tflite or onnx; else the model's own format")
      ->check(CLI::IsMember({"tflite", "onnx"}));
  AddInputs(partition, options->inputs, kSomeInputs);
  partition.add_flag("!--no-verify", options->verify,
                     "Write without running the parts and the model first");
  AddConstantsApart(partition, options->constants_apart);
  partition.callback([options, &work] { work = [options] { return Partition(*options); }; });
}

void AddTune(CLI::App& tune, Work& work) {
  const auto options = std::make_shared<TuneOptions>();
  AddModel(tune, options->model);
  tune.add_option("PLAN,--output", options->output, "The file to write, for --plan")->required();
  AddThreads(tune, options->threads);
  tune.add_option("--budget", options->budget,
                  "Seconds that all of it may take; without it, as many as the network is worth: 2 "
                  "to 20")
      ->check(Between(0, 86400));
  AddDevice(tune, options->model,
            "Let layers run there where the network gains by it, copies included: cuda");
  tune.add_option("--html", options->html, "Write a page with all that was tried");
  tune.add_option("--allow", options->allow,
                  "float32: let integer layers compute in float32 where that is faster; int8: let "
                  "layers of float32 compute with integers. Results are no longer the same bits")
      ->delimiter(',')
      ->check(CLI::IsMember({"float32", "int8"}));
  tune.add_option("--ranges", options->ranges,
                  "For --allow int8: the ranges of activations, a file of intaglio quantize "
                  "--ranges");
  tune.add_option("--max-error", options->max_error,
                  "With --allow: the most by which outputs may differ, as a share of them "
                  "(0.01 is 40 dB), the differences of the layers added up")
      ->check(Between(0, 1e6));
  AddInputs(tune, options->inputs,
            "[NAME=]FILE.npy for an input, on which all runs and differences are measured; the "
            "others are random");
  tune.add_option("--timings", options->timings,
                  "A file of times: those in it are not measured again, and new ones are added");
  tune.add_option("--memory", options->memory,
                  "The most bytes of packed weights and arena of the tuned network, such as 512K")
      ->transform(CLI::AsSizeValue(false));
  tune.callback([options, &work] { work = [options] { return Tune(*options); }; });
}

void AddQuantize(CLI::App& quantize, Work& work) {
  const auto options = std::make_shared<QuantizeOptions>();
  AddModel(quantize, options->model);
  quantize
      .add_option("OUTFILE,-o,--output", options->output,
                  "The file to write, whose name ends in .tflite or .onnx")
      ->required();
  AddList(quantize, "--data", options->data,
          "[NAME=]PATH for each input: a .npy file whose first axis counts samples, an image, or a "
          "folder of such files");
  AddList(quantize, "--keep-float", options->keep_float,
          "Layers whose labels match this regular expression stay float32");
  AddImageScale(quantize, "--mean", options->mean, Between(-1e6, 1e6),
                "What is subtracted from samples of uint8 for float32 inputs");
  AddImageScale(quantize, "--std", options->std, Between(1e-6, 1e6), "What they are divided by");
  quantize.add_option("--samples", options->samples, "Use the first so many samples")
      ->check(Positive());
  quantize.add_option("--recipe", options->recipe, "Rules for layers (docs/quantizing.md)");
  quantize
      .add_option("--method", options->method,
                  "How the ranges of activations are chosen (docs/quantizing.md)")
      ->check(CLI::IsMember({"minmax", "ema", "percentile", "mse", "entropy"}))
      ->capture_default_str();
  quantize
      .add_option("--bits", options->bits,
                  "w8a8, w8a16, or w8 for weights alone; either may have 2 to 8 bits")
      ->capture_default_str();
  quantize.add_option("--io", options->io, "The type of the inputs and outputs")
      ->check(CLI::IsMember({"float", "int8", "uint8", "int16"}))
      ->capture_default_str();
  quantize.add_option("--report", options->report,
                      "Write what each layer loses to a file that ends in .html or .json");
  quantize.add_option("--ranges", options->ranges,
                      "Write the ranges of activations to a file, for intaglio tune --ranges");
  CLI::Option* const drop =
      quantize
          .add_option("--max-drop", options->max_drop,
                      "Make layers wider, or keep them float32, until accuracy falls by no more "
                      "points")
          ->check(Between(0, 100));
  quantize
      .add_option("--labels", options->labels,
                  "A .npy file with the right answers of --data; without it, those of MODEL are "
                  "right")
      ->needs(drop);
  quantize
      .add_option("--min-sqnr", options->min_sqnr,
                  "The same, until the first output has so many decibels of signal over noise")
      ->check(Between(-100, 200))
      ->excludes(drop);
  quantize.add_flag("--per-tensor", options->per_tensor,
                    "One scale for all channels of a layer's weights");
  quantize.add_flag("--equalize", options->equalize,
                    "Make the channels of weights alike in size first, across pairs of layers");
  quantize.add_flag("--smooth", options->smooth,
                    "Move the ranges of activations into the weights that they are multiplied by");
  quantize.add_flag("--learn-rounding", options->learn_rounding,
                    "Round weights so that layers' results stay, not to the nearest integers");
  quantize.add_flag("--correct-bias", options->correct_bias,
                    "Take the mean errors that rounding causes out of biases, layer by layer");
  AddThreads(quantize, options->threads);
  AddConstantsApart(quantize, options->constants_apart);
  quantize.callback([options, &work] { work = [options] { return Quantize(*options); }; });
}

void AddOperators(CLI::App& operators, Work& work) {
  operators.callback([&work] { work = Operators; });
}

void AddCpu(CLI::App& cpu, Work& work) {
  const auto options = std::make_shared<CpuOptions>();
  AddJson(cpu, options->json);
  cpu.callback([options, &work] { work = [options] { return Cpu(*options); }; });
}

struct Command {
  const char* name;
  const char* help;
  void (*add)(CLI::App& command, Work& work);
};
constexpr Command kCommands[] = {
    {"run", "Run a model once on given inputs", AddRun},
    {"inspect", "Show a model's tensors, layers, costs and memory plan", AddInspect},
    {"bench", "Measure a model's latency, whole and per layer", AddBench},
    {"verify", "Check that every kernel and thread count gives the same bits here", AddVerify},
    {"convert", "Write a model as a file of another format", AddConvert},
    {"partition", "Split a model into three, of which the middle one has integers only",
     AddPartition},
    {"tune", "Find the fastest way to compute each layer of a model on this machine", AddTune},
    {"quantize", "Make a model of integers from one of float32 and sample inputs", AddQuantize},
    {"operators", "List the operators and types that models may use", AddOperators},
    {"cpu", "Show the kernels of this build and which of them run here", AddCpu},
};

// To declare the options of all subcommands takes .4 ms, so only those of the one that is named
// are declared.
void AddCommand(CLI::App& app, const Command& command, Work& work) {
  CLI::App* const added = app.add_subcommand(command.name, command.help);
  added->preparse_callback([&command, added, &work](size_t) { command.add(*added, work); });
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(word, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The first argument that looks like an option but is none; empty if there is no such argument.
std::string UnknownOption(const CLI::App& app) {
  for (const std::string& argument : app.remaining()) {
    if (argument.size() > 1 && argument[0] == '-') return argument.substr(0, argument.find('='));
  }
  return {};
}

// Says what is wrong, if it knows more than CLI11.
std::string WhatIsWrong(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error,
                        int argc, char** argv) {
  const std::string unknown = UnknownOption(command);
  if (!unknown.empty()) {
    return "there is no option " + unknown + DidYouMean(unknown, OptionNames(command));
  }
  if (&command != &app || argc < 2 || argv[1][0] == '-') return error.what();
  return "there is no command '" + std::string(argv[1]) + "'" +
         DidYouMean(argv[1], CommandNames(app));
}

Status WrongUsage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const bool has_command = !app.get_subcommands().empty();
  const CLI::App& command = has_command ? *app.get_subcommands().front() : app;
  const std::string name = has_command ? "intaglio " + command.get_name() : "intaglio";
  return InvalidArgument(WhatIsWrong(app, command, error, argc, argv) + "; see " + name +
                         " --help");
}

}  // namespace

int DefaultThreads() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 8);
}

Result<Work> ParseCommandLine(int argc, char** argv) {
  CLI::App app("Runs quantized neural networks with exact integer arithmetic.", "intaglio");
  app.require_subcommand(1);
  app.set_version_flag("--version", "intaglio " INTAGLIO_VERSION);
  Work work;
  for (const Command& command : kCommands) AddCommand(app, command, work);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return Work();
  } catch (const CLI::ParseError& error) {
    return WrongUsage(app, error, argc, argv);
  }
  return work;
}

}  // namespace intaglio::tools
