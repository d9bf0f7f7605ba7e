/* The C interface of Intaglio: exact products of 8-bit matrices, and quantized networks.
 *
 * One library, libintaglio.so.0, has everything; it needs the C++ runtime library and threads.
 * docs/c_abi.md has complete programs.
 *
 * Promise. This file is append only. As long as the library is libintaglio.so.0, every function
 * and constant that a released version of this file declares keeps its form and its meaning, so a
 * program that was built with an older version of this file runs with a newer library. New
 * functions and constants are added at the end of a section. it_abi_version() says how many there
 * are. Constants may be added to any list: a program must expect values that it does not know.
 *
 * Rules that hold everywhere:
 *
 *  - Handles are opaque. Whatever `it_X_create` or another function stores through an `it_X** out`
 *    belongs to the caller, who ends it by `it_X_destroy`. Destroying null does nothing. If a
 *    function fails, it stores null.
 *  - `const it_tensor*` and `const it_layer*` belong to the handle that they come from, and so do
 *    strings. They are valid as long as that handle is not changed or destroyed.
 *  - A function that can fail returns an `it_status*`: null if all went well, else an error, which
 *    the caller ends by it_status_destroy. Errors are kept nowhere else.
 *  - A null handle or pointer is an error, never a crash, unless null is said to be allowed.
 *    A function that returns a plain value gives 0 or null for a null handle, or an index that
 *    there is not. Pointers that are neither null nor valid cannot be checked.
 *  - No exception crosses this interface. Nothing is printed, unless the environment variable
 *    INTAGLIO_VERBOSE=1 asks for a line on stderr for each product.
 *  - Sizes of memory are in bytes, strides in elements. Dimensions count from 0, outermost first.
 *  - Strings are UTF-8 and end with a zero byte. Texts of messages may change in any version.
 *  - Results are the same bits on every CPU, with every kernel and every number of threads.
 *
 * Threads. Different handles may be used at the same time by different threads. One handle may be
 * used
 *   by any threads at once   it_model, it_weights, it_product, it_kernels, it_description,
 *                            it_quantized, it_plan, it_status: they never change
 *   by one caller at a time  it_context, it_session: they own threads and memory of a call
 *   by one caller at a time  it_matrix, it_pipeline, it_model_options, it_quantize_options,
 *                            it_tune_options: while none changes them, any threads may read them
 * After fork() a child may use, and destroy, handles that no other thread used at that moment.
 */
#ifndef INTAGLIO_INTAGLIO_H_
#define INTAGLIO_INTAGLIO_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IT_API __attribute__((visibility("default")))
#define IT_CHECKED IT_API __attribute__((warn_unused_result))
#else
#define IT_API
#define IT_CHECKED
#endif

/* The version of Intaglio that this file belongs to: major * 10000 + minor * 100 + patch. */
#define IT_VERSION 100
/* The number of additions to this interface. */
#define IT_ABI_VERSION 2

/* ---------------------------------------------------------------------------------------------
 * Versions and errors
 * ------------------------------------------------------------------------------------------- */

/* IT_VERSION and IT_ABI_VERSION of the library that runs. A program that was built with this file
 * runs with every library whose it_abi_version() is not less than the file's IT_ABI_VERSION. */
IT_API int32_t it_version(void);
IT_API int32_t it_abi_version(void);

typedef struct it_status it_status;

enum {
  IT_OK = 0,
  IT_INVALID_ARGUMENT = 1, /* the caller's value cannot be right, whatever the machine */
  IT_UNSUPPORTED = 2,      /* well formed, but this build or machine has no way to do it */
  IT_OUT_OF_MEMORY = 3,    /* an allocation failed, or a size does not fit the address space */
  IT_IO_ERROR = 4,         /* a file could not be opened, read or written */
  IT_INTERNAL = 5          /* a fault of Intaglio: please report it */
};

/* One of the constants above; IT_OK for null. */
IT_API int32_t it_status_code(const it_status* status);
/* One line that names the offending value; "" for null. Valid until the status is destroyed. */
IT_API const char* it_status_message(const it_status* status);
IT_API void it_status_destroy(it_status* status);

/* ---------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------- */

/* The kernels of this build, those preferred first. The environment variable INTAGLIO_ISA=<name>
 * caps, for a whole process, which are used; a name given to a function chooses for that call. */
typedef struct it_kernels it_kernels;
IT_CHECKED it_status* it_kernels_create(it_kernels** out);
IT_API void it_kernels_destroy(it_kernels* kernels);
IT_API size_t it_kernels_count(const it_kernels* kernels);
IT_API const char* it_kernels_name(const it_kernels* kernels, size_t index);
/* Why this process does not use the kernel; "" if it may. */
IT_API const char* it_kernels_why_not(const it_kernels* kernels, size_t index);

/* ---------------------------------------------------------------------------------------------
 * Contexts: threads and scratch memory of products
 * ------------------------------------------------------------------------------------------- */

/* Serves one caller at a time. */
typedef struct it_context it_context;

/* A pool of threads of the caller's. It calls task(arg, i) for each i in 0 .. n - 1, in any order,
 * on any threads, and returns when all calls have returned. `pool` is what was given with it. */
typedef void (*it_parallel_for)(void* pool, int n, void (*task)(void* arg, int i), void* arg);

/* Uses `threads` threads, 1 to 1024, the caller's among them. The others start on first need, and
 * sleep between products: an idle one spins for at most 2 milliseconds. */
IT_CHECKED it_status* it_context_create(int32_t threads, it_context** out);
/* Starts no threads: cuts products for `threads` of them and runs the parts in the caller's pool,
 * which must outlive the context. */
IT_CHECKED it_status* it_context_create_in_pool(int32_t threads, it_parallel_for parallel_for,
                                                void* pool, it_context** out);
IT_API void it_context_destroy(it_context* context);
IT_API int32_t it_context_threads(const it_context* context);
/* Bytes of scratch that are held now. */
IT_API size_t it_context_scratch_bytes(const it_context* context);

/* ---------------------------------------------------------------------------------------------
 * Matrices: the form of an operand or a result, without its data
 * ------------------------------------------------------------------------------------------- */

typedef int32_t it_type;
enum {
  IT_INT8 = 0,
  IT_UINT8 = 1,
  IT_INT16 = 2,
  IT_INT32 = 3,
  IT_INT64 = 4,
  IT_FLOAT32 = 5,
  IT_BOOL = 6,  /* a byte, 0 or 1 */
  IT_UINT16 = 7 /* since IT_ABI_VERSION 2 */
};
/* The bytes of an element; 0 for a type that there is not. */
IT_API size_t it_type_bytes(it_type type);
/* "int8"; "?" for a type that there is not. */
IT_API const char* it_type_name(it_type type);

typedef int32_t it_order;
enum {
  IT_ROW_MAJOR = 0,   /* element (r, c) lies at data[r * stride + c] */
  IT_COLUMN_MAJOR = 1 /* element (r, c) lies at data[c * stride + r] */
};

typedef struct it_matrix it_matrix;
/* Dense, in row-major order, with zero point 0. rows, cols >= 0. */
IT_CHECKED it_status* it_matrix_create(it_type type, int32_t rows, int32_t cols, it_matrix** out);
IT_API void it_matrix_destroy(it_matrix* matrix);
/* Keeps the order and makes the matrix dense. */
IT_CHECKED it_status* it_matrix_set_shape(it_matrix* matrix, int32_t rows, int32_t cols);
/* stride: from one row (column) to the next, in elements; 0: dense. */
IT_CHECKED it_status* it_matrix_set_order(it_matrix* matrix, it_order order, int64_t stride);
/* The number of an operand's type that stands for the real number 0. */
IT_CHECKED it_status* it_matrix_set_zero_point(it_matrix* matrix, int32_t zero_point);
/* A matrix that is packed may have one for each row if it will be the left-hand side, for each
 * column if it will be the right-hand side. They are copied. count 0: zero_point holds for all. */
IT_CHECKED it_status* it_matrix_set_channel_zero_points(it_matrix* matrix,
                                                        const int32_t* zero_points, size_t count);

/* ---------------------------------------------------------------------------------------------
 * Weights: the constant side of products, packed once for a kernel
 * ------------------------------------------------------------------------------------------- */

typedef int32_t it_side;
enum { IT_LEFT = 0, IT_RIGHT = 1 };

/* Immutable. Any threads, contexts and products may use it at once. Products keep what they need
 * of it, so it may be destroyed before them. */
typedef struct it_weights it_weights;

/* Packs an int8 or uint8 matrix that will stand on `side` of products. `data` is not needed
 * afterwards. kernel: null or "" for the best of this process (see it_kernels). */
IT_CHECKED it_status* it_weights_pack(const it_matrix* matrix, const void* data, it_side side,
                                      const char* kernel, it_weights** out);
/* A second handle of the same weights, which are not copied. */
IT_CHECKED it_status* it_weights_share(const it_weights* weights, it_weights** out);
IT_API void it_weights_destroy(it_weights* weights);
IT_API it_side it_weights_side(const it_weights* weights);
IT_API int32_t it_weights_rows(const it_weights* weights);
IT_API int32_t it_weights_cols(const it_weights* weights);
/* Bytes held, or mapped from a file. */
IT_API size_t it_weights_bytes(const it_weights* weights);
/* The kernel that products would use. */
IT_API const char* it_weights_kernel(const it_weights* weights);

/* Saved weights are the packed bytes behind a head with a version, the kernel, the sizes and a
 * checksum. They serve machines that can use the same kernel, in the same byte order. */

/* The bytes that it_weights_save writes. */
IT_API size_t it_weights_saved_bytes(const it_weights* weights);
/* bytes: exactly that many. */
IT_CHECKED it_status* it_weights_save(const it_weights* weights, void* data, size_t bytes);
/* Replaces the file at once: whoever opens it finds the old content or all of the new one. */
IT_CHECKED it_status* it_weights_save_file(const it_weights* weights, const char* path);
/* Copies what it needs. An error if the bytes are cut off or damaged, or were packed for a kernel
 * that this machine cannot use (IT_UNSUPPORTED: pack the matrix again). The checksum finds damage,
 * not malice: bytes made on purpose may give wrong results, but reach no other memory. */
IT_CHECKED it_status* it_weights_load(const void* data, size_t bytes, it_weights** out);
/* The same without a copy, if `data` is a multiple of 64, else with one. The bytes must not change
 * until release(arg) is called, when nothing uses them any more; it may come from any thread, and
 * from this call if that fails. release may be null: then the bytes must stay for good. */
IT_CHECKED it_status* it_weights_load_in_place(const void* data, size_t bytes,
                                               void (*release)(void* arg), void* arg,
                                               it_weights** out);
/* Maps the file, so that processes share its memory. Nobody may write or truncate it meanwhile; to
 * replace it, as it_weights_save_file does, is safe. */
IT_CHECKED it_status* it_weights_load_file(const char* path, it_weights** out);
/* Packs as it_weights_pack does, or finds what an earlier call packed: maps it from a file in
 * `folder`, whose name is made of the kernel and of a digest of the matrix. If there is none, or
 * it is damaged, packs and writes it. Any processes may use a folder at once. If the file cannot
 * be written, the result is the packed weights and no error. found: null, or receives 1 if the
 * weights come from a file, else 0. */
IT_CHECKED it_status* it_weights_pack_cached(const it_matrix* matrix, const void* data,
                                             it_side side, const char* kernel, const char* folder,
                                             it_weights** out, int32_t* found);

/* ---------------------------------------------------------------------------------------------
 * Pipelines: how int32 sums become results
 * ------------------------------------------------------------------------------------------- */

/* result = cast(clamp(scale(sum + bias) + zero_point)). Without any setting, the sum itself, cast
 * to the type of the result. Adding the zero point and the cast saturate. A sum plus its bias must
 * fit int32. A result of float32 needs it_pipeline_set_float_output, and has neither zero point
 * nor clamp. All arrays are copied. */
typedef struct it_pipeline it_pipeline;
IT_CHECKED it_status* it_pipeline_create(it_pipeline** out);
IT_API void it_pipeline_destroy(it_pipeline* pipeline);

typedef int32_t it_axis;
enum { IT_PER_ROW = 0, IT_PER_COLUMN = 1 };
/* The direction of the result along which bias and scales run: default IT_PER_COLUMN. */
IT_CHECKED it_status* it_pipeline_set_axis(it_pipeline* pipeline, it_axis axis);
/* One for each channel, that is row or column; count 0: none. */
IT_CHECKED it_status* it_pipeline_set_bias(it_pipeline* pipeline, const int32_t* bias,
                                           size_t count);

typedef int32_t it_rounding;
enum {
  IT_DOUBLE_ROUNDING = 0, /* TFLite: fixed point, rounded twice, ties away from zero at first */
  IT_SINGLE_ROUNDING = 1, /* TFLite built for single rounding: fixed point, ties upwards */
  IT_FLOAT_HALF_EVEN = 2, /* ONNX: a product in float32, ties to even */
  IT_REAL64 = 3           /* LiteRT's fully connected operator: a product in float64 */
};
/* The last call of the setters that follow holds. count is 1, or the number of channels.
 * docs/numerics.md defines each rounding. */

/* Real multipliers: finite, not negative. The two roundings of fixed point convert each to the
 * nearest mantissa and exponent, as TFLite does; IT_FLOAT_HALF_EVEN to the nearest float32. */
IT_CHECKED it_status* it_pipeline_set_scales(it_pipeline* pipeline, it_rounding rounding,
                                             const double* scales, size_t count);
/* The multiplier mantissa * 2^(exponent - 31), for the two roundings of fixed point. The mantissa
 * is not negative, the exponent in -31 .. 30. */
IT_CHECKED it_status* it_pipeline_set_fixed_point(it_pipeline* pipeline, it_rounding rounding,
                                                  const int32_t* mantissas,
                                                  const int32_t* exponents, size_t count);
/* float32(sum + bias) * scale, for a result of float32. */
IT_CHECKED it_status* it_pipeline_set_float_output(it_pipeline* pipeline, const float* scales,
                                                   size_t count);
/* In the numbers of the result. */
IT_CHECKED it_status* it_pipeline_set_zero_point(it_pipeline* pipeline, int32_t zero_point);
IT_CHECKED it_status* it_pipeline_set_clamp(it_pipeline* pipeline, int32_t min, int32_t max);

/* ---------------------------------------------------------------------------------------------
 * Products: result = pipeline(left x right)
 * ------------------------------------------------------------------------------------------- */

/* Operands are int8 or uint8 in any combination, left M x K, right K x N. Results, M x N, are int8,
 * uint8, int16, int32 or float32. Sums are exact: a K that could overflow int32 is refused. The
 * result may overlap no operand. If a product fails, the result is untouched. */

/* A product that is computed again and again: all is checked, and parameters are made, once.
 * Immutable: any threads may run it at once, each with a context of its own. */
typedef struct it_product it_product;
/* `operand` is the form of the side that is not packed. What is given may be changed and destroyed
 * afterwards. */
IT_CHECKED it_status* it_product_create(const it_matrix* operand, const it_weights* weights,
                                        const it_matrix* result, const it_pipeline* pipeline,
                                        it_product** out);
IT_API void it_product_destroy(it_product* product);
IT_CHECKED it_status* it_product_run(const it_product* product, it_context* context,
                                     const void* operand, void* result);
/* The same weights and pipeline with operands and results of another form: another number of rows
 * (with weights on the left, of columns), another stride or order. Types and zero points are those
 * of the product. The checks come with every call. */
IT_CHECKED it_status* it_product_run_as(const it_product* product, it_context* context,
                                        const it_matrix* operand_form, const void* operand,
                                        const it_matrix* result_form, void* result);

/* A product of which neither side was packed before. */
IT_CHECKED it_status* it_multiply(it_context* context, const it_matrix* left, const void* left_data,
                                  const it_matrix* right, const void* right_data,
                                  const it_matrix* result, void* result_data,
                                  const it_pipeline* pipeline);

/* How a product would run in a context. */
typedef struct it_description it_description;
IT_CHECKED it_status* it_product_describe(const it_product* product, it_context* context,
                                          it_description** out);
IT_API void it_description_destroy(it_description* description);
IT_API const char* it_description_kernel(const it_description* description);
/* "name: reason" of every faster kernel that does not run. */
IT_API size_t it_description_skipped_count(const it_description* description);
IT_API const char* it_description_skipped(const it_description* description, size_t index);
/* All that is known, in one line. */
IT_API const char* it_description_text(const it_description* description);

/* ---------------------------------------------------------------------------------------------
 * Models: networks from .tflite and .onnx files
 * ------------------------------------------------------------------------------------------- */

/* How a file is read, and how its model is prepared and run. */
typedef struct it_model_options it_model_options;
IT_CHECKED it_status* it_model_options_create(it_model_options** out);
IT_API void it_model_options_destroy(it_model_options* options);
/* The threads that prepare a model and that each of its sessions uses, the caller's among them:
 * 1 to 1024, by default 1. */
IT_CHECKED it_status* it_model_options_set_threads(it_model_options* options, int32_t threads);
/* Runs in a pool of the caller's, for `threads` threads. It must outlive the model and sessions. */
IT_CHECKED it_status* it_model_options_set_pool(it_model_options* options, int32_t threads,
                                                it_parallel_for parallel_for, void* pool);
/* Null or "": the best of this process. */
IT_CHECKED it_status* it_model_options_set_kernel(it_model_options* options, const char* kernel);
/* Bytes that reading and preparing may take each, without the file itself. 0, the default, stands
 * for 4 GiB plus 16 bytes for each byte of the file. What exceeds a limit is refused before it is
 * allocated. */
IT_CHECKED it_status* it_model_options_set_max_bytes(it_model_options* options, uint64_t bytes);
/* Multiply-accumulates and other steps of one run: not negative, by default 10^15. */
IT_CHECKED it_status* it_model_options_set_max_work(it_model_options* options, int64_t steps);
/* Rounds of all loops of one run: not negative, by default 10^6. */
IT_CHECKED it_status* it_model_options_set_max_rounds(it_model_options* options, int64_t rounds);
/* Another shape for an input than the file's. */
IT_CHECKED it_status* it_model_options_set_input_shape(it_model_options* options, size_t input,
                                                       const int32_t* dims, size_t rank);
/* Where the data files of an .onnx model lie that has any; null: nowhere. The
 * default is the folder of a model's file, if it is read from one. */
IT_CHECKED it_status* it_model_options_set_data_folder(it_model_options* options,
                                                       const char* folder);

typedef int32_t it_flag;
enum {
  IT_COPY_FILE = 0,          /* reads a file into memory instead of mapping it */
  IT_BYTES_IN_PLACE = 1,     /* it_model_load_bytes: the bytes stay until all sessions and the model
                                are destroyed, and are not copied if they are 16-byte aligned */
  IT_INTEGER_ONLY = 2,       /* refuses a model that needs floating point */
  IT_ONNX_ORT_FUSED = 3,     /* .onnx: computes as ONNX Runtime does after its fusions */
  IT_ONNX_NHWC_INPUTS = 4,   /* .onnx: images come as batch, height, width, channels */
  IT_ONNX_FLOAT64_AS_32 = 5, /* .onnx: takes float64 tensors as float32 */
  IT_UNFUSED_SUMS = 6,       /* rounds products of float32 before they are added, as TFLite's
                                reference kernels do, on every CPU */
  IT_KEEP_TENSORS = 7        /* gives every tensor memory of its own, for it_session_tensor_data.
                                Since IT_ABI_VERSION 2 */
};
/* value: 0, the default of all, or 1. */
IT_CHECKED it_status* it_model_options_set_flag(it_model_options* options, it_flag flag,
                                                int32_t value);
/* Gives an input of the file a value, so that it becomes a constant when the file is read, from
 * which shapes and parameters may follow. It is no input of the model any more, and has no place
 * among those of it_model_options_set_input_shape. bytes of data are copied: the elements, dense,
 * row-major, little-endian. An input gets one value. Since IT_ABI_VERSION 2. */
IT_CHECKED it_status* it_model_options_set_constant(it_model_options* options, const char* name,
                                                    it_type type, const int32_t* dims, size_t rank,
                                                    const void* data, size_t bytes);

/* How each layer is computed: the text of a plan (it_plan_text, or a file of `intaglio tune`),
 * which is copied. 0 bytes: no plan. It is checked when a model is loaded; one for another network
 * is an error. What of it does not fit this machine is computed as without a plan
 * (it_model_plan_warning), or is an error if strict is 1. Layers of a plan that was made with
 * it_tune_options_set_allow_float32 may give other bits. Since IT_ABI_VERSION 2. */
IT_CHECKED it_status* it_model_options_set_plan(it_model_options* options, const char* text,
                                                size_t bytes, int32_t strict);

/* Where layers may run besides the CPU: "cuda", the NVIDIA GPU that is current now and wherever a
 * model is loaded or runs. Null or "", the default: nowhere. it_model_tune finds the layers that
 * gain by it, copies included, and a plan of it_model_options_set_plan has them; all others run on
 * the CPU. IT_UNSUPPORTED where this library or this machine has no such device. Since
 * IT_ABI_VERSION 2. */
IT_CHECKED it_status* it_model_options_set_device(it_model_options* options, const char* device);

/* Immutable. Any threads may make sessions of it at once. */
typedef struct it_model it_model;
/* The content says whether it is a .tflite or an .onnx file. No byte is trusted. The file is
 * mapped: nobody may write or truncate it while a model or session lives (IT_COPY_FILE).
 * options: may be null. */
IT_CHECKED it_status* it_model_load_file(const char* path, const it_model_options* options,
                                         it_model** out);
/* name stands in messages; null: "model". The bytes are copied (IT_BYTES_IN_PLACE). */
IT_CHECKED it_status* it_model_load_bytes(const void* data, size_t bytes, const char* name,
                                          const it_model_options* options, it_model** out);
/* Sessions may outlive it. */
IT_API void it_model_destroy(it_model* model);

/* A tensor that goes in or out. Belongs to the model or session. */
typedef struct it_tensor it_tensor;
IT_API size_t it_model_input_count(const it_model* model);
IT_API size_t it_model_output_count(const it_model* model);
IT_API const it_tensor* it_model_input(const it_model* model, size_t index);
IT_API const it_tensor* it_model_output(const it_model* model, size_t index);
IT_API const char* it_tensor_name(const it_tensor* tensor);
IT_API it_type it_tensor_type(const it_tensor* tensor);
/* A scalar has rank 0. */
IT_API size_t it_tensor_rank(const it_tensor* tensor);
IT_API int32_t it_tensor_dim(const it_tensor* tensor, size_t index);
/* The bytes of a dense buffer, outermost dimension first. */
IT_API size_t it_tensor_bytes(const it_tensor* tensor);
/* real = scale * (q - zero_point). 0 scales: not quantized. 1: for the whole tensor. More: scale i
 * is that of index i of dimension `axis`. There are as many zero points. */
IT_API size_t it_tensor_scale_count(const it_tensor* tensor);
IT_API float it_tensor_scale(const it_tensor* tensor, size_t index);
IT_API int32_t it_tensor_zero_point(const it_tensor* tensor, size_t index);
IT_API int32_t it_tensor_axis(const it_tensor* tensor);

/* What was decided for a layer. Belongs to the model or session. */
typedef struct it_layer it_layer;
IT_API size_t it_model_layer_count(const it_model* model);
IT_API const it_layer* it_model_layer(const it_model* model, size_t index);
IT_API const char* it_layer_label(const it_layer* layer);
/* "CONV_2D" */
IT_API const char* it_layer_operator(const it_layer* layer);
/* How it is computed: "cpu:qint8/gemm". */
IT_API const char* it_layer_routine(const it_layer* layer);
/* "" for a layer without packed weights. */
IT_API const char* it_layer_kernel(const it_layer* layer);
/* Multiply-accumulates of one run. */
IT_API int64_t it_layer_macs(const it_layer* layer);
/* Steps of all kinds, as it_model_options_set_max_work counts them. */
IT_API int64_t it_layer_work(const it_layer* layer);
IT_API size_t it_layer_constant_bytes(const it_layer* layer);
IT_API size_t it_layer_scratch_bytes(const it_layer* layer);

/* Bytes that each session takes for tensors, and bytes of weights and tables that they share. */
IT_API size_t it_model_arena_bytes(const it_model* model);
IT_API size_t it_model_constant_bytes(const it_model* model);
/* What the limits count: bytes that preparing took, bytes allowed, and steps of a run. */
IT_API size_t it_model_taken_bytes(const it_model* model);
IT_API size_t it_model_max_bytes(const it_model* model);
IT_API int64_t it_model_work(const it_model* model);

/* What did not fit of the plan that the model was loaded with. Since IT_ABI_VERSION 2. */
IT_API size_t it_model_plan_warning_count(const it_model* model);
IT_API const char* it_model_plan_warning(const it_model* model, size_t index);

/* How a model is tuned: the options of `intaglio tune`. Since IT_ABI_VERSION 2. */
typedef struct it_tune_options it_tune_options;
IT_CHECKED it_status* it_tune_options_create(it_tune_options** out);
IT_API void it_tune_options_destroy(it_tune_options* options);
/* The time for all of it, preparing what is measured included: 0 to 86400. Without this call, a
 * network gets what it is worth, 1.8 to 18 seconds. */
IT_CHECKED it_status* it_tune_options_set_seconds(it_tune_options* options, double seconds);
/* 1: layers of int8 and uint8 may compute in float32, so that results may be other bits. 0, the
 * default, keeps the bits. */
IT_CHECKED it_status* it_tune_options_set_allow_float32(it_tune_options* options, int32_t value);
/* The ranges of activations by which layers of float32 may compute with int8. text: what a file of
 * `intaglio quantize --ranges` holds; it is copied. 0 bytes, the default: no layer may. */
IT_CHECKED it_status* it_tune_options_set_ranges(it_tune_options* options, const char* text,
                                                 size_t bytes);
/* By how much outputs may differ if results need not keep their bits: the root mean square of what
 * they differ by, over that of the outputs; 0 or more. Needs it_tune_options_set_allow_float32 or
 * it_tune_options_set_ranges. */
IT_CHECKED it_status* it_tune_options_set_max_error(it_tune_options* options, double share);
/* The most bytes of packed weights and of one session's tensors; 0, the default: any. */
IT_CHECKED it_status* it_tune_options_set_max_bytes(it_tune_options* options, uint64_t bytes);
/* What input number `index` holds while everything is measured: its dense elements, which are
 * copied; bytes as it_tensor_bytes says, which is checked when a model is tuned. 0 bytes, the
 * default: random elements. */
IT_CHECKED it_status* it_tune_options_set_input(it_tune_options* options, size_t index,
                                                const void* data, size_t bytes);

/* How each layer of a model is computed fastest on this machine. Since IT_ABI_VERSION 2. */
typedef struct it_plan it_plan;
/* Measures with the options that the model was loaded with, which must not have a plan. options:
 * null gives the defaults. IT_UNSUPPORTED says that no way to keep the limits was found, or that
 * this build has no tuner. The machine should be idle. */
IT_CHECKED it_status* it_model_tune(const it_model* model, const it_tune_options* options,
                                    it_plan** out);
IT_API void it_plan_destroy(it_plan* plan);
/* JSON, for it_model_options_set_plan; ends with a null character that it_plan_bytes leaves out. */
IT_API const char* it_plan_text(const it_plan* plan);
IT_API size_t it_plan_bytes(const it_plan* plan);
/* A run of the network without the plan and with it, measured in turns. */
IT_API double it_plan_untuned_nanoseconds(const it_plan* plan);
IT_API double it_plan_tuned_nanoseconds(const it_plan* plan);

/* ---------------------------------------------------------------------------------------------
 * Quantizing: files of integers from files of float32 (docs/quantizing.md). Since IT_ABI_VERSION 2.
 * A build without the quantizer answers IT_UNSUPPORTED to it_quantize_bytes and it_quantize_file.
 * ------------------------------------------------------------------------------------------- */

/* How a network is quantized: the options of `intaglio quantize`. */
typedef struct it_quantize_options it_quantize_options;
IT_CHECKED it_status* it_quantize_options_create(it_quantize_options** out);
IT_API void it_quantize_options_destroy(it_quantize_options* options);
/* "w8a8", the default: weights of 2 to 8 bits, activations of 2 to 8 or 16; "w8": weights alone. */
IT_CHECKED it_status* it_quantize_options_set_bits(it_quantize_options* options, const char* bits);
/* How ranges follow from samples: "minmax", the default, "ema", "percentile", "mse", "entropy". */
IT_CHECKED it_status* it_quantize_options_set_method(it_quantize_options* options,
                                                     const char* method);
/* The text of a recipe in JSON: how layers differ. Replaces one that was set before. Patterns are
 * compared with layers when a network is quantized. */
IT_CHECKED it_status* it_quantize_options_set_recipe(it_quantize_options* options, const char* text,
                                                     size_t bytes);
/* Layers whose label has this regular expression in it stay float32, whatever the recipe says. May
 * be called again for more of them. */
IT_CHECKED it_status* it_quantize_options_keep_float(it_quantize_options* options,
                                                     const char* pattern);
/* The type of inputs and outputs that are float32: IT_FLOAT32, the default, IT_INT8, IT_UINT8 or
 * IT_INT16. */
IT_CHECKED it_status* it_quantize_options_set_interface(it_quantize_options* options, it_type type);

/* Makes layers wider, or keeps them float32, the worst first, until the accuracy of the first
 * output falls by at most so many points, 0 to 100. labels: the right answer of each row, sample
 * after sample; if count is 0, the answers of the network of float32 are the right ones. Reads the
 * samples again and again. */
IT_CHECKED it_status* it_quantize_options_set_max_drop(it_quantize_options* options, double points,
                                                       const int32_t* labels, size_t count);
/* The same, until the first output has so many decibels of signal over noise. Replaces
 * it_quantize_options_set_max_drop, and is replaced by it. */
IT_CHECKED it_status* it_quantize_options_set_min_sqnr(it_quantize_options* options,
                                                       double decibels);

typedef int32_t it_quantize_flag;
enum {
  IT_QUANTIZE_PER_TENSOR = 0, /* one scale for all weights of a layer */
  IT_QUANTIZE_EQUALIZE = 1,   /* makes channels of weights alike in size first */
  IT_QUANTIZE_CORRECT_BIAS =
      2,                  /* takes mean errors out of biases: a second pass over the samples */
  IT_QUANTIZE_REPORT = 3, /* measures what each layer loses, with the first 32 samples */
  /* rounds weights so that layers' results stay, not to the nearest: more passes over samples */
  IT_QUANTIZE_LEARN_ROUNDING = 4,
  /* moves the ranges of activations into weights: a pass before all others */
  IT_QUANTIZE_SMOOTH = 5
};
/* value: 0, the default of all, or 1. */
IT_CHECKED it_status* it_quantize_options_set_flag(it_quantize_options* options,
                                                   it_quantize_flag flag, int32_t value);

/* Writes sample number `sample` of the caller's data: inputs[i] has room for the dense elements of
 * input i, as many as it_tensor_bytes of it_model_input(model, i) says. Returns 1, or 0 if there
 * are no more samples, or another number for an error of the caller's. Passes over the samples
 * start with number 0 each, and ask in order. It is called by the thread that quantizes. */
typedef int32_t (*it_next_sample)(void* user, size_t sample, void* const* inputs);

/* A network of integers, as a file. Immutable. */
typedef struct it_quantized it_quantized;
/* The file has the format of what is read: .tflite or .onnx. The same file, samples and options
 * give the same bytes. model: how the file is read, the threads and the limits; may be null.
 * options: may be null. next: may be null for weights alone. Errors name the layer, the tensor or
 * the sample that is wrong: NaN, no sample, a pattern that matches no layer. */
IT_CHECKED it_status* it_quantize_file(const char* path, const it_model_options* model,
                                       const it_quantize_options* options, it_next_sample next,
                                       void* user, it_quantized** out);
/* name stands in messages; null: "model". The bytes are copied. */
IT_CHECKED it_status* it_quantize_bytes(const void* data, size_t bytes, const char* name,
                                        const it_model_options* model,
                                        const it_quantize_options* options, it_next_sample next,
                                        void* user, it_quantized** out);
IT_API void it_quantized_destroy(it_quantized* quantized);
/* The file: write it, or give it to it_model_load_bytes. */
IT_API const void* it_quantized_data(const it_quantized* quantized);
IT_API size_t it_quantized_bytes(const it_quantized* quantized);
/* The samples that were observed. */
IT_API size_t it_quantized_sample_count(const it_quantized* quantized);
/* The layers of the network of float32, after batch normalization and activations have become parts
 * of others. */
IT_API size_t it_quantized_layer_count(const it_quantized* quantized);
IT_API const char* it_quantized_layer_label(const it_quantized* quantized, size_t index);
/* 1 if it became a layer of integers. */
IT_API int32_t it_quantized_layer_has_integers(const it_quantized* quantized, size_t index);
/* Why a layer stays float32, or what to know of it; mostly "". */
IT_API const char* it_quantized_layer_note(const it_quantized* quantized, size_t index);
/* The layers that max_drop or min_sqnr changed: "LABEL stays float32". */
IT_API size_t it_quantized_change_count(const it_quantized* quantized);
IT_API const char* it_quantized_change(const it_quantized* quantized, size_t index);
/* What each layer loses, as JSON; "" without IT_QUANTIZE_REPORT. */
IT_API const char* it_quantized_report(const it_quantized* quantized);

/* ---------------------------------------------------------------------------------------------
 * Sessions: instances of a model that run
 * ------------------------------------------------------------------------------------------- */

/* Has memory, threads and state of its own, and shares the weights. Serves one caller at a time. */
typedef struct it_session it_session;
IT_CHECKED it_status* it_session_create(const it_model* model, it_session** out);
/* Another session with the shapes of this one, and a state of its own. */
IT_CHECKED it_status* it_session_share(const it_session* session, it_session** out);
IT_API void it_session_destroy(it_session* session);

/* As of the model, with the shapes of the session. They become invalid by it_session_resize. */
IT_API size_t it_session_input_count(const it_session* session);
IT_API size_t it_session_output_count(const it_session* session);
IT_API const it_tensor* it_session_input(const it_session* session, size_t index);
IT_API const it_tensor* it_session_output(const it_session* session, size_t index);
IT_API size_t it_session_layer_count(const it_session* session);
IT_API const it_layer* it_session_layer(const it_session* session, size_t index);
IT_API size_t it_session_arena_bytes(const it_session* session);

/* Starts threads and makes scratch, so that the first run finds them. Resets the state. */
IT_CHECKED it_status* it_session_warm_up(it_session* session);

/* Names the buffers that it_session_run copies from and to: dense, at any address; type and bytes
 * exactly the tensor's, which the run checks. They hold for all runs until they are named anew;
 * null data takes the name away. */
IT_CHECKED it_status* it_session_set_input(it_session* session, size_t index, const void* data,
                                           size_t bytes, it_type type);
IT_CHECKED it_status* it_session_set_output(it_session* session, size_t index, void* data,
                                            size_t bytes, it_type type);
/* Runs once. All inputs and outputs must have buffers, and none may be bound. Allocates nothing
 * after the first run, except in layers whose weights are activations, if they are depthwise or of
 * float32 or int16. After an error the outputs are undefined and the session is usable. */
IT_CHECKED it_status* it_session_run(it_session* session);

/* Buffers that layers use in place, without a copy: at a multiple of the type's size; null data
 * unbinds. An output may overlap no other buffer. */
IT_CHECKED it_status* it_session_bind_input(it_session* session, size_t index, const void* data,
                                            size_t bytes, it_type type);
IT_CHECKED it_status* it_session_bind_output(it_session* session, size_t index, void* data,
                                             size_t bytes, it_type type);
/* The bound buffer or, if none is bound, the session's own memory. Write all inputs before each
 * run. Read outputs before the next. To bind or to resize may move them. */
IT_API void* it_session_input_data(it_session* session, size_t index);
IT_API const void* it_session_output_data(const it_session* session, size_t index);
/* Runs once on bound buffers and that memory. */
IT_CHECKED it_status* it_session_run_bound(it_session* session);

/* Starts a new sequence in recurrent layers, which otherwise go on from run to run. */
IT_CHECKED it_status* it_session_reset_state(it_session* session);

/* Names a shape for the next it_session_resize. */
IT_CHECKED it_status* it_session_set_input_shape(it_session* session, size_t index,
                                                 const int32_t* dims, size_t rank);
/* Gives inputs the shapes named since the last resize; others keep theirs. All other shapes
 * follow. Weights are not packed again. State starts anew. Bound buffers are an error. After an
 * error the session is as it was, and the shapes are to be named again. */
IT_CHECKED it_status* it_session_resize(it_session* session);

/* All tensors of the network, constants too, in an order that does not change. As those of the
 * model, they become invalid by it_session_resize and it_session_update. Since IT_ABI_VERSION 2. */
IT_API size_t it_session_tensor_count(const it_session* session);
IT_API const it_tensor* it_session_tensor(const it_session* session, size_t index);
/* The elements after a run, dense: of constants and outputs, and with IT_KEEP_TENSORS of all.
 * Null for the rest. They become invalid by the next call. Since IT_ABI_VERSION 2. */
IT_API const void* it_session_tensor_data(const it_session* session, size_t index);

/* Name other elements for a constant, and other scales and zero points for a tensor, in the next
 * it_session_update, which forgets them. The bytes of data must be exactly the tensor's, and stay
 * until then; the others are copied. Since IT_ABI_VERSION 2. */
IT_CHECKED it_status* it_session_set_constant(it_session* session, size_t tensor, const void* data,
                                              size_t bytes, it_type type);
IT_CHECKED it_status* it_session_set_quantization(it_session* session, size_t tensor,
                                                  const float* scales, const int32_t* zero_points,
                                                  size_t count, int32_t axis);
/* Gives the tensors what was named. Results are those of a model that has had it from the start.
 * Only the layers that read or write these tensors are prepared anew. The state starts anew. Other
 * sessions keep what they have. Bound buffers are an error. After an error the session is as it
 * was. Since IT_ABI_VERSION 2. */
IT_CHECKED it_status* it_session_update(it_session* session);

/* on: 1 measures the time of each layer in the runs that follow, 0 stops that. */
IT_CHECKED it_status* it_session_set_profiling(it_session* session, int32_t on);
/* The time in the last run that was measured, in nanoseconds; 0 before one. */
IT_API int64_t it_session_layer_nanoseconds(const it_session* session, size_t index);

/* Runs the network on the inputs of it_session_set_input, from its first state, with every kernel
 * that this process may use, each with 1 to max_threads (1 to 64) threads, and with every exact
 * routine of each layer, in instances of its own. IT_INTERNAL names the first whose outputs are
 * other bits than those of the portable kernel. Kernels that add products of float32 by fused
 * multiply-adds are compared with each other. NaN count as equal. combinations: null, or receives
 * how many were compared. */
IT_CHECKED it_status* it_session_verify(const it_session* session, int32_t max_threads,
                                        int32_t* combinations);

#ifdef __cplusplus
}
#endif

#endif /* INTAGLIO_INTAGLIO_H_ */
