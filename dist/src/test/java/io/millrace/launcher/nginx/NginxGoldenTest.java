package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.Goldens;
import io.millrace.launcher.importing.ImportResult;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the sample directories in {@code src/test/resources/nginx}. */
final class NginxGoldenTest {
    private static final Goldens GOLDENS = new Goldens("nginx");

    static List<String> samples() {
        return GOLDENS.names();
    }

    private static ImportResult read(String sample) {
        return NginxImport.read(GOLDENS.path(sample), null);
    }

    @ParameterizedTest
    @MethodSource("samples")
    void samplesAreImportedAsExpected(String sample) throws IOException {
        GOLDENS.assertExpected(sample, read(sample));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void everyLineOfEveryFileIsInTheReport(String sample) throws IOException {
        GOLDENS.assertNothingIsLost(GOLDENS.path(sample), read(sample), "#.*|[}\\s]*|(text|image)/.*");
    }
}
