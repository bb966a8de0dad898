package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.observe.Counter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests origins on Unix domain sockets: rules and hosts of groups, over both transports, and their errors. */
class UnixOriginTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    private Path directory;
    private UnixOrigin app;

    /** The path of a socket is limited to 107 bytes, so the directory of temporary files of JUnit may be too long. */
    @BeforeEach
    void open() throws Exception {
        directory = Files.createTempDirectory("unix");
        app = new UnixOrigin(directory.resolve("app.sock"), "app");
    }

    @AfterEach
    void close() throws Exception {
        app.close();
        Files.deleteIfExists(directory);
    }

    private ProxyConfig.Builder ruleTo(ProxyConfig.Builder config, Path socket) {
        return config.map(
                "/",
                "http://app.internal/",
                ConfigValues.builder().set(RemapKeys.UNIX_SOCKET, socket).build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void aRuleConnectsToTheSocketOfItsOrigin(String transport) throws Exception {
        proxy.start(
                request -> {}, config -> ruleTo(config.set(ConfigKeys.WORKER_TRANSPORT.path(), transport), app.path()));
        assertEquals("app for app.internal", proxy.get("/a").text());
        assertEquals("app for app.internal", proxy.get("/b").text());
        assertEquals(1, app.connections(), "the connection is kept");
    }

    @Test
    void aMissingSocketIs502AndWorksOnceItIsThere() throws Exception {
        Path later = directory.resolve("later.sock");
        proxy.start(request -> {}, config -> ruleTo(config, later));
        assertEquals(502, proxy.get("/a").status());
        assertEquals(1, proxy.counted(Counter.ORIGIN_FAILURES_CONNECT));
        try (UnixOrigin late = new UnixOrigin(later, "late")) {
            assertEquals("late for app.internal", proxy.get("/a").text());
            assertEquals(1, late.connections());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "map: /, to: 'http://o/', unix_socket: /a/LONG"
                        + " | has 152 bytes; the system's limit for a Unix domain socket is 107",
                "redirect: /, to: 'http://o/', unix_socket: /a | cannot be set for redirect",
                "map: /, to: 'http://o/', origins: shop, unix_socket: /a | cannot be set with origins"
            })
    void otherUsesAreRefused(String rule, String because) {
        ConfigResult result = ConfigLoader.parse(
                "listen: [':1']\norigins: [{name: shop, hosts: ['http://h/']}]\nremap: [{"
                        + rule.replace("LONG", "x".repeat(149)) + "}]\n",
                "m.yaml",
                Map.of());
        ConfigProblem problem = result.problems().get(0);
        assertEquals("remap[0].unix_socket", problem.path());
        assertTrue(problem.message().contains(because), problem::text);
    }

    @Test
    void aHostWhosePathIsTooLongIsRefused() {
        ConfigResult result = ConfigLoader.parse(
                "listen: [':1']\norigins: [{name: shop, hosts: [{url: 'http://h/', unix_socket: /" + "x".repeat(107)
                        + "}]}]\nremap: [{map: /, to: 'http://o/', origins: shop}]\n",
                "m.yaml",
                Map.of());
        ConfigProblem problem = result.problems().get(0);
        assertNotNull(problem);
        assertEquals("origins[0].hosts[0].unix_socket", problem.path());
    }
}
