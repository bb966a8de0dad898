package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.Goldens;
import io.millrace.launcher.importing.ImportResult;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the samples in {@code src/test/resources/varnish}. */
final class VarnishGoldenTest {
    private static final Goldens GOLDENS = new Goldens("varnish");

    static List<String> samples() {
        return GOLDENS.names();
    }

    private static ImportResult read(String sample) {
        return VarnishImport.read(GOLDENS.path(sample));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void samplesAreImportedAsExpected(String sample) throws IOException {
        GOLDENS.assertExpected(sample, read(sample));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void everyLineOfEveryFileIsInTheReport(String sample) throws IOException {
        GOLDENS.assertNothingIsLost(
                GOLDENS.path(sample), read(sample), "(#|//|/\\*|a comment|of several).*|[}\\s;]*|} else \\{|</body.*");
    }
}
