/* A program in C99 that knows the installed header alone: reads 500 handwritten digits, all with the
 * bits of TFLite's reference kernels, and computes one product.
 *
 *   digits FOLDER    FOLDER is examples/digits
 */
#include <intaglio/intaglio.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPixels = 64, kClasses = 10, kDigits = 500 };

/* Ends the program with the message of an error. */
static void check(it_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "error %d: %s\n", (int)it_status_code(status), it_status_message(status));
  it_status_destroy(status);
  exit(1);
}

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* The path of a file in the folder. */
static const char* path_of(const char* folder, const char* name) {
  static char path[4096];
  const int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
  if (length < 0 || length >= (int)sizeof(path)) fail("the path is too long");
  return path;
}

/* Reads the elements of a .npy file of bytes, behind a header whose length is in bytes 8 and 9. */
static void read_npy(const char* folder, const char* name, unsigned char* to, size_t bytes) {
  unsigned char head[10];
  FILE* file = fopen(path_of(folder, name), "rb");
  if (file == NULL || fread(head, 1, 10, file) != 10) fail(name);
  if (fseek(file, 10 + head[8] + 256L * head[9], SEEK_SET) != 0) fail(name);
  if (fread(to, 1, bytes, file) != bytes) fail(name);
  fclose(file);
}

static void read_digits(const char* folder) {
  static unsigned char images[kDigits * kPixels];
  static unsigned char expected[kDigits * kClasses];
  unsigned char scores[kClasses];
  it_model* model;
  it_session* session;
  int right = 0;
  int i;
  read_npy(folder, "heldout_images.npy", images, sizeof(images));
  read_npy(folder, "expected_outputs.npy", expected, sizeof(expected));
  check(it_model_load_file(path_of(folder, "digits.tflite"), NULL, &model));
  check(it_session_create(model, &session));
  it_model_destroy(model);
  check(it_session_set_output(session, 0, scores, kClasses, IT_INT8));
  for (i = 0; i < kDigits; ++i) {
    check(it_session_set_input(session, 0, images + i * kPixels, kPixels, IT_INT8));
    check(it_session_run(session));
    right += memcmp(scores, expected + i * kClasses, kClasses) == 0;
  }
  it_session_destroy(session);
  printf("%d of %d digits have the right bits\n", right, (int)kDigits);
  if (right != kDigits) exit(1);
}

/* The product of the README. */
static void multiply(void) {
  const uint8_t x[2 * 3] = {1, 2, 3, 4, 5, 6};
  const int8_t w[3 * 2] = {1, -1, 2, -2, 3, -3};
  const int32_t bias[2] = {10, 20};
  const double half = 0.5;
  const int8_t expected[2 * 2] = {6, 3, 15, -6};
  int8_t y[2 * 2];
  it_context* context;
  it_matrix* activations;
  it_matrix* constants;
  it_matrix* results;
  it_weights* weights;
  it_pipeline* pipeline;
  it_product* product;
  check(it_matrix_create(IT_INT8, 3, 2, &constants));
  check(it_weights_pack(constants, w, IT_RIGHT, NULL, &weights));
  check(it_matrix_create(IT_UINT8, 2, 3, &activations));
  check(it_matrix_set_zero_point(activations, 1));
  check(it_matrix_create(IT_INT8, 2, 2, &results));
  check(it_pipeline_create(&pipeline));
  check(it_pipeline_set_bias(pipeline, bias, 2));
  check(it_pipeline_set_scales(pipeline, IT_DOUBLE_ROUNDING, &half, 1));
  check(it_pipeline_set_zero_point(pipeline, -3));
  check(it_product_create(activations, weights, results, pipeline, &product));
  check(it_context_create(1, &context));
  check(it_product_run(product, context, x, y));
  it_context_destroy(context);
  it_product_destroy(product);
  it_pipeline_destroy(pipeline);
  it_matrix_destroy(results);
  it_matrix_destroy(activations);
  it_weights_destroy(weights);
  it_matrix_destroy(constants);
  printf("%d %d\n%d %d\n", y[0], y[1], y[2], y[3]);
  if (memcmp(y, expected, sizeof(y)) != 0) exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: digits FOLDER");
  if (it_version() < IT_VERSION || it_abi_version() < IT_ABI_VERSION) fail("the library is too old");
  read_digits(argv[1]);
  multiply();
  return 0;
}
