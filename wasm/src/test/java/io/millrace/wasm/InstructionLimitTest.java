package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.wasm.abi.HeaderMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the limits of callbacks for responses, which run on event loops, with few instructions that cost much. */
class InstructionLimitTest {
    private static final long START_INSTRUCTIONS = 1_000_000;

    private static WasmInstance instance(long instructions) throws Exception {
        Shared shared = Canned.shared();
        return new WasmInstance(
                WasmProgram.load(WasmProxy.bytes("costly.wasm"), shared),
                shared,
                START_INSTRUCTIONS,
                instructions,
                null);
    }

    private static void run(WasmInstance instance, int status) {
        HeaderMap fields = new HeaderMap().with(":status", Integer.toString(status));
        for (int i = 0; i < 100; i++) {
            fields.with("a", "v".repeat(600));
        }
        instance.response(
                HttpContext.ofResponse(() -> null, new HttpContext.Response(status, fields, "", ""), Map.of()));
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "201, memory.fill",
        "202, memory.copy",
        "203, table.fill",
        "204, table.copy",
        "205, memory.grow",
        "206, random bytes",
        "207, the length of all fields",
        "208, all fields",
        "209, new fields",
        "210, one field",
        "211, host calls",
    })
    void expensiveInstructionsCountByTheirBytes(int status, String name) throws Exception {
        WasmInstance instance = instance(100_000);
        assertThrows(WasmInstance.InstructionLimitException.class, () -> run(instance, status), name);
    }

    @Test
    void cheapInstructionsStayBelowTheLimit() throws Exception {
        WasmInstance instance = instance(100_000);
        for (int i = 0; i < 100; i++) {
            assertDoesNotThrow(() -> run(instance, 200));
        }
    }

    /** The number of instructions is too high for the deadline on every machine. */
    @Test
    void aCallbackEndsAtItsDeadlineBelowTheLimit() throws Exception {
        WasmInstance instance = instance(Long.MAX_VALUE);
        assertThrows(WasmInstance.TimeLimitException.class, () -> run(instance, 212));
    }
}
