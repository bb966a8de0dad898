package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the messages about modules and configurations that cannot be used. */
class LoadFaultsTest {
    @TempDir
    Path directory;

    private String fault(String config) {
        IOException thrown = assertThrows(
                IOException.class, () -> WasmProxy.start(directory, config).close());
        return String.valueOf(thrown.getMessage());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "missing-import | imports the function env.launch, which this proxy does not have",
                "wrong-abi | does not have the Proxy-Wasm ABI 0.2.1: it has version 0.1.0",
                "wrong-type | imports the function env.proxy_log with another type",
                "large | needs 32768KiB of memory, more than the limit of 16384KiB (key memory)",
                "failing-start | the start of the module has failed: Trapped on unreachable instruction",
            })
    void aModuleThatCannotBeUsedIsNamed(String module, String message) throws Exception {
        WasmProxy.copy(module + ".wasm", directory.resolve("filter.wasm"));
        String fault = fault("{module: filter.wasm}");
        String place = directory.resolve("millrace.yaml") + ":5:";
        assertTrue(fault.startsWith(place), fault);
        assertTrue(fault.contains("extension filter: config.module: " + directory.resolve("filter.wasm")), fault);
        assertTrue(fault.contains(message), fault);
    }

    @Test
    void theClassForContentsNeedsTheCallback() throws Exception {
        WasmProxy.copy("response.wasm", directory.resolve("filter.wasm"));
        String fault = String.valueOf(assertThrows(IOException.class, () -> WasmProxy.start(
                                directory, ProxyWasmBodyExtension.class, "", "{module: filter.wasm}")
                        .close())
                .getMessage());
        assertTrue(fault.startsWith(directory.resolve("millrace.yaml") + ":5:"), fault);
        assertTrue(fault.contains("filter.wasm does not export proxy_on_response_body"), fault);
        WasmProxy.copy("body.wasm", directory.resolve("filter.wasm"));
        for (String size : new String[] {"0", "65MiB"}) {
            String config = "{module: filter.wasm, body_limit: " + size + "}";
            fault = String.valueOf(assertThrows(IOException.class, () -> WasmProxy.start(
                                    directory, ProxyWasmBodyExtension.class, "", config)
                            .close())
                    .getMessage());
            assertTrue(fault.contains("config.body_limit: " + size + " is not from 1 byte to 64MiB"), fault);
        }
    }

    @Test
    void aModuleMayRefuseItsConfiguration() throws Exception {
        WasmProxy.copy("response.wasm", directory.resolve("filter.wasm"));
        String fault = fault("{module: filter.wasm, configuration: refuse}");
        assertTrue(fault.contains("proxy_on_configure has refused the configuration"), fault);
    }

    @Test
    void aFileThatIsNoModuleIsNamed() throws Exception {
        Files.writeString(directory.resolve("filter.wasm"), "text");
        assertTrue(fault("{module: filter.wasm}").contains("is not a valid WebAssembly module"));
        assertTrue(fault("{module: other.wasm}").contains("other.wasm: no such file"));
    }

    /** Every cut of a good module is refused, and none breaks the host. */
    @Test
    void cutModulesAreRefused() throws Exception {
        byte[] whole = WasmProxy.bytes("request.wasm");
        Shared shared = Canned.shared();
        int refused = 0;
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(whole, length);
            try {
                WasmProgram.load(cut, shared);
            } catch (WasmFailure e) {
                refused++;
            }
        }
        assertTrue(refused >= whole.length - 10, "refused=" + refused + " of " + whole.length);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "memory: 10MB | config.memory: '10MB' is not a size",
                "memory: 100KiB | config.memory: 100KiB is not a multiple of 64KiB",
                "memory: 2GiB | config.memory: 2GiB is not a multiple of 64KiB from 64KiB to 1GiB",
                "deadline: 1h | config.deadline: 3600000 ms is not from 1 to 10000 ms",
                "instances: 0 | config.instances: 0 is below the limit of 1",
                "engine: jit | config.engine: 'jit' is neither interpreter nor compiler",
                "callout_timeout: 1ms | config.callout_timeout: 1 ms is not from 10 to 60000 ms",
                "body_limit: 1MiB | config.body_limit: unknown key",
                "callout_body: 65MiB | config.callout_body: 65MiB is not from 1 byte to 64MiB",
                "'callouts: {a: ftp://b}' | config.callouts.a: 'ftp://b' is not a URL of scheme, host and port",
                "'callouts: {a: http://b/c}' | config.callouts.a: 'http://b/c' is not a URL of scheme",
                "'callouts: {a: http://u@b}' | config.callouts.a: 'http://u@b' is not a URL of scheme",
                "'callouts: {a: http//b}' | config.callouts.a: 'http//b' is not a URL of scheme",
                "'callouts: {a: http://b c}' | config.callouts.a: 'http://b c' is not a URL:",
                "'callouts: auth' | config.callouts:",
                "instance: 2 | config.instance: unknown key (did you mean instances?)",
            })
    void aFaultOfTheConfigurationIsNamed(String key, String message) throws Exception {
        WasmProxy.copy("request.wasm", directory.resolve("filter.wasm"));
        String fault = fault("{module: filter.wasm, " + key + "}");
        assertTrue(fault.contains(message), fault);
        assertTrue(fault.startsWith(directory.resolve("millrace.yaml") + ":5:"), fault);
    }

    @Test
    void theModuleIsRequired() {
        assertTrue(fault("{instances: 1}").contains("config.module: missing"));
    }
}
