package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests the library in a foreign JVM: no flags, the jars of the packed product, and one source file of the embedding
 * application.
 */
class EmbeddingTest {

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @Test
    void twoProxiesInAPlainJvmLeaveNothingBehind() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String program = Path.of(System.getProperty("millrace.source", ".."))
                .resolve("src/test/embedding/TwoProxies.java")
                .toAbsolutePath()
                .normalize()
                .toString();
        Command run = Command.run(
                product.newDirectory(), List.of(java, "-cp", product.home().resolve("lib") + "/*", program));
        assertEquals("OK", run.out().strip(), run::toString);
        assertEquals(0, run.exitCode(), run::toString);
    }
}
