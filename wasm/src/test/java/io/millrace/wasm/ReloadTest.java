package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.ResourceBundle;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests starts of modules that fail or last, without a proxy. The context has no shared executor, so these starts cannot
 * delay other extensions.
 */
class ReloadTest {
    @TempDir
    Path directory;

    private final RecordingLog log = new RecordingLog();
    private Path file;

    @BeforeEach
    void copyModule() throws Exception {
        file = directory.resolve("filter.wasm");
        WasmProxy.copy("request.wasm", file);
    }

    private WasmFilter open(String interval) throws Exception {
        return open(interval, false);
    }

    private WasmFilter open(String interval, boolean hasBodies) throws Exception {
        return WasmFilter.open(
                new Context(
                        log,
                        new Config(Map.of("module", file.toString(), "instances", "1", "reload_interval", interval))),
                hasBodies);
    }

    private static long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.isAlive() && thread.getName().startsWith(name))
                .count();
    }

    @Test
    void anErrorInAReloadIsLoggedAndLeavesNoThreads() throws Exception {
        try (WasmFilter filter = open("PT0.02S")) {
            // The instance for requests starts. The first one for responses fails with an error of the JVM.
            WasmProxy.copy("second-start.wasm", file);
            Awaitility.await().until(() -> log.has("was not loaded, the old one stays: java.lang.OutOfMemoryError"));
            Awaitility.await().until(() -> threads("millrace-wasm-test-") == 1);
            assertTrue(filter.seesRequests());
            // The checks go on.
            WasmProxy.copy("later.wasm", file);
            Awaitility.await().until(() -> log.has("loaded the changed module"));
        }
        Awaitility.await().until(() -> threads("millrace-wasm-") == 0);
    }

    /** Names of equal length exchange a supported callback for one that is not. */
    @Test
    void callbacksThatAreNeverCalledAreNamed() throws Exception {
        String module = new String(WasmProxy.bytes("response.wasm"), StandardCharsets.ISO_8859_1);
        String changed = module.replace("proxy_on_response_headers", "proxy_on_request_trailers");
        assertNotEquals(module, changed);
        Files.write(file, changed.getBytes(StandardCharsets.ISO_8859_1));
        try (WasmFilter filter = open("PT0.02S")) {
            assertEquals("not called: proxy_on_request_trailers", filter.note());
            assertTrue(log.has("these functions of the module are never called: proxy_on_request_trailers"));
            WasmProxy.copy("later.wasm", file);
            Awaitility.await().until(() -> filter.note().isEmpty());
        }
    }

    /** Without upstreams no HTTP call has a result. */
    @Test
    void theCallbackForCallsIsNamedWithoutUpstreams() throws Exception {
        WasmProxy.copy("callout.wasm", file);
        try (WasmFilter filter = open("PT0.02S")) {
            assertEquals("not called: proxy_on_http_call_response", filter.note());
        }
    }

    @Test
    void theClassForContentsIsNamed() throws Exception {
        WasmProxy.copy("body.wasm", file);
        try (WasmFilter filter = open("PT0S")) {
            assertEquals("not called: proxy_on_response_body, proxy_on_http_call_response", filter.note());
            assertTrue(log.has("set the key class of the extension to it"));
            assertTrue(log.has(ProxyWasmBodyExtension.class.getName()));
        }
    }

    @Test
    void aChangedModuleWithoutACallbackForContentsIsNotLoaded() throws Exception {
        WasmProxy.copy("body.wasm", file);
        try (WasmFilter filter = open("PT0.02S", true)) {
            assertEquals("not called: proxy_on_http_call_response", filter.note());
            WasmProxy.copy("response.wasm", file);
            Awaitility.await().until(() -> log.has("the old one stays: does not export proxy_on_response_body"));
        }
    }

    @Test
    void theLogNamesTheLimitOfTheContentOfCalls() throws Exception {
        WasmProxy.copy("callout.wasm", file);
        Map<String, String> keys = Map.of(
                "module",
                file.toString(),
                "configuration",
                "timer",
                "callouts",
                "http://127.0.0.1:9000",
                "callout_body",
                "2",
                "reload_interval",
                "PT0S");
        try (WasmFilter filter = WasmFilter.open(new Context(log, new Config(keys)), false)) {
            assertTrue(filter.note().isEmpty(), filter::note);
            Awaitility.await()
                    .until(() -> log.has("its content has more bytes than the limit of 2 (key callout_body)"));
        }
    }

    @Test
    void anErrorInTheFirstStartLeavesNoThreads() throws Exception {
        WasmProxy.copy("second-start.wasm", file);
        assertThrows(OutOfMemoryError.class, () -> open("PT0S"));
        Awaitility.await().until(() -> threads("millrace-wasm-") == 0);
    }

    /** A start may last 30 seconds, longer than the wait of this test. */
    @Test
    void aCloseEndsAStartThatRuns() throws Exception {
        try (WasmFilter filter = open("PT0.02S")) {
            WasmProxy.copy("endless-start.wasm", file);
            Awaitility.await().until(() -> threads("millrace-wasm-test-") == 2);
            assertTrue(filter.seesRequests());
        }
        Awaitility.await().until(() -> threads("millrace-wasm-") == 0);
        assertEquals(
                List.of(),
                log.messages.stream()
                        .filter(text -> text.contains("not loaded"))
                        .toList());
    }

    /** Records messages. A message "again" of a module fails. */
    private static final class RecordingLog implements System.Logger {
        final List<String> messages = new CopyOnWriteArrayList<>();

        boolean has(String part) {
            return messages.stream().anyMatch(message -> message.contains(part));
        }

        @Override
        public String getName() {
            return "test";
        }

        @Override
        public boolean isLoggable(Level level) {
            return true;
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
            messages.add(message);
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
            if (parameters != null && parameters.length > 0 && parameters[0].equals("again")) {
                throw new OutOfMemoryError("test");
            }
            messages.add(format);
        }
    }

    record Context(System.Logger log, ExtensionConfig config) implements ExtensionContext {
        @Override
        public String name() {
            return "test";
        }

        @Override
        public ExtensionCounter counter(String name) {
            return by -> {};
        }

        @Override
        public ScheduledExecutorService executor() {
            throw new IllegalStateException("no shared threads");
        }
    }

    record Config(Map<String, String> texts) implements ExtensionConfig {
        @Override
        public Set<String> keys() {
            return texts.keySet();
        }

        @Override
        public boolean has(String key) {
            return texts.containsKey(key);
        }

        @Override
        public String text(String key) {
            return texts.getOrDefault(key, "");
        }

        @Override
        public String text(String key, String defaultValue) {
            return texts.getOrDefault(key, defaultValue);
        }

        @Override
        public long number(String key, long defaultValue, long min, long max) {
            return Long.parseLong(texts.getOrDefault(key, Long.toString(defaultValue)));
        }

        @Override
        public boolean flag(String key, boolean defaultValue) {
            return defaultValue;
        }

        @Override
        public Duration duration(String key, Duration defaultValue) {
            return Duration.parse(texts.getOrDefault(key, defaultValue.toString()));
        }

        @Override
        public List<String> texts(String key) {
            return List.of();
        }

        @Override
        public ExtensionConfig section(String key) {
            return new Config(Map.of("auth", text(key)));
        }

        @Override
        public List<ExtensionConfig> sections(String key) {
            return List.of();
        }

        @Override
        public void rejectOtherKeys() {}

        @Override
        public ExtensionConfigException problem(String key, String message) {
            return new ExtensionConfigException("test", key, message);
        }
    }
}
