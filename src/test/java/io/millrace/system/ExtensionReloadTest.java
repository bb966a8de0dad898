package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.extension.load.ExtensionJars;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the loading of an extension by the product: a changed jar, a faulty jar, and a faulty configuration. */
@Tag("nightly")
class ExtensionReloadTest {
    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static void write(Path config, String mark) throws Exception {
        Files.writeString(config, """
                listen: ["127.0.0.1:0"]
                remap: [{map: /, to: "%s"}]
                extensions:
                  - name: mark
                    jar: mark.jar
                    config: {mark: "%s"}
                """.formatted(origin.url(), mark));
    }

    private static String mark(MillraceProcess proxy) throws Exception {
        return RawClient.fetch(proxy.port(), "/").joined("X-Mark");
    }

    @Test
    void aChangedJarNeedsANewWorkerAndAFaultyOneKeepsTheOld() throws Exception {
        origin.serves("/", "one", "Cache-Control: max-age=600");
        Path directory = product.newDirectory();
        Path config = directory.resolve("millrace.yaml");
        Path jar = ExtensionJars.one(directory.resolve("mark.jar"), "Mark", ExtensionJars.MARK);
        write(config, "first");
        MillraceProcess proxy = product.launch().config(config).shortWarmUp().start();
        assertEquals("first", mark(proxy));
        String list = proxy.millctl("extension", "list").succeeds().out();
        assertTrue(list.startsWith("mark 1.2, active"), list);
        assertTrue(list.contains(jar.toString()), list);

        long first = proxy.worker().pid();
        ExtensionJars.one(jar, "Mark", ExtensionJars.MARK.replace("\"X-Mark\", mark", "\"X-Mark\", mark + \"!\""));
        assertEquals("first", mark(proxy));
        String plan = proxy.millctl("config", "plan").succeeds().out();
        assertTrue(plan.contains("extensions"), plan);
        proxy.millctl("config", "reload").succeeds();
        long second = proxy.worker().pid();
        assertNotEquals(first, second);
        assertEquals("first!", mark(proxy));

        ExtensionJars.one(jar, "Mark", ExtensionJars.MARK.replace("return Extension.API_VERSION", "return 99"));
        Command refused = proxy.millctl("config", "reload");
        assertNotEquals(0, refused.exitCode(), refused::toString);
        assertTrue(refused.toString().contains("was compiled for version 99"), refused::toString);
        assertEquals(second, proxy.worker().pid());
        assertEquals("first!", mark(proxy));

        ExtensionJars.one(jar, "Mark", ExtensionJars.MARK);
        write(config, " ");
        Command fault = proxy.millctl("config", "reload");
        assertTrue(
                fault.toString().contains("millrace.yaml:6:20: extension mark: config.mark: has no word"),
                fault::toString);
        assertEquals("first!", mark(proxy));
        Command check = Command.run(
                directory, List.of(product.home().resolve("bin/millrace").toString(), "check", config.toString()));
        assertNotEquals(0, check.exitCode(), check::toString);
        assertTrue(check.toString().contains("config.mark: has no word"), check::toString);
    }
}
