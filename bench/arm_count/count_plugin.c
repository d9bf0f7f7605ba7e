/* A plugin for qemu-user 7.2 (plugin interface 1): how many instructions the guest has executed each
 * time that it enters the function IntaglioCountMark, one number per line of the log.
 *
 * Debian ships neither a plugin nor the header, so what is used of it is declared here. The guest must
 * be linked statically and not be stripped: qemu-user knows no symbols of shared objects. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { kInlineAddUint64 = 0 };
enum { kCallbackReadsNoRegisters = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t,
                                                              struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* instruction, int operation,
                                                void* target, uint64_t addend);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* instruction,
                                            void (*executed)(unsigned vcpu, void* data), int flags,
                                            void* data);
void qemu_plugin_outs(const char* text);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t executed;

static void Report(unsigned vcpu, void* data) {
  (void)vcpu;
  (void)data;
  char line[32];
  snprintf(line, sizeof line, "%" PRIu64 "\n", executed);
  qemu_plugin_outs(line);
}

static bool IsMark(const struct qemu_plugin_insn* instruction) {
  const char* symbol = qemu_plugin_insn_symbol(instruction);
  return symbol != NULL && strcmp(symbol, "IntaglioCountMark") == 0;
}

static void Translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(block);
  for (size_t i = 0; i < count; ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    if (i == 0 && IsMark(instruction)) {
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, Report, kCallbackReadsNoRegisters, NULL);
    }
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, kInlineAddUint64, &executed, 1);
  }
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const void* info, int argc,
                                                               char** argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, Translated);
  return 0;
}
