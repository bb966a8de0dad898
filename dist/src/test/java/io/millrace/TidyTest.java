package io.millrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.TidyRules;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The sources of every module keep the rules of style that a glance can check. */
class TidyTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "../cache-store/src",
                "../proxy-core/src",
                "../admin-cli/src",
                "../benchmarks/src",
                "src",
                "../src/test"
            })
    void sourcesAreTidy(String folder) {
        assertTrue(Files.isDirectory(Path.of(folder)), folder);
        assertEquals(List.of(), TidyRules.violations(Path.of(folder), false));
    }
}
