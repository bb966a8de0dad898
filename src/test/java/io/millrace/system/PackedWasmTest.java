package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the Proxy-Wasm extension in the jar of the product, which has its libraries inside. */
class PackedWasmTest {
    private static final Path MODULES =
            Path.of(System.getProperty("millrace.source", "..")).resolve("wasm/src/test/resources/io/millrace/wasm");

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    private static void write(Path config, String settings) throws Exception {
        Files.writeString(config, """
                listen: ["127.0.0.1:0"]
                remap: [{map: /, to: "%s"}]
                extensions:
                  - name: filter
                    jar: %s/lib/extensions/millrace-wasm.jar
                    config: {module: filter.wasm, %s}
                """.formatted(origin.url(), product.home(), settings));
    }

    @Test
    void theShippedJarRunsModules() throws Exception {
        origin.serves("/a", "content", "Cache-Control: max-age=600");
        Path directory = product.newDirectory();
        Path config = directory.resolve("millrace.yaml");
        Files.copy(MODULES.resolve("request.wasm"), directory.resolve("filter.wasm"));
        write(config, "instances: 2");
        MillraceProcess proxy = product.launch().config(config).shortWarmUp().start();
        assertEquals("content", RawClient.fetch(proxy.port(), "/a").text());
        assertEquals(
                "denied by the module", RawClient.fetch(proxy.port(), "/deny").text());
        String list = proxy.millctl("extension", "list").succeeds().out();
        assertTrue(list.startsWith("filter ABI 0.2.1, active"), list);

        write(config, "instances: 2, engine: compiler");
        proxy.millctl("config", "reload").succeeds();
        assertEquals(
                "denied by the module", RawClient.fetch(proxy.port(), "/deny").text());
        assertEquals(503, RawClient.fetch(proxy.port(), "/loop").status());

        write(config, "instances: 2, memory: 1KiB");
        Command refused = proxy.millctl("config", "reload");
        assertNotEquals(0, refused.exitCode(), refused::toString);
        assertTrue(refused.toString().contains("millrace.yaml:6:"), refused::toString);
        assertTrue(refused.toString().contains("config.memory: 1KiB is not a multiple of 64KiB"), refused::toString);
        assertEquals("content", RawClient.fetch(proxy.port(), "/a").text());
    }
}
