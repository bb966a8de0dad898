package io.millrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.TidyLinks;
import io.millrace.store.TidyPackages;
import io.millrace.store.TidyRules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the style of the sources of every module. */
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

    @ParameterizedTest
    @ValueSource(strings = {"cache-store", "proxy-core", "admin-cli", "benchmarks", "dist"})
    void packagesAreSmall(String module) {
        Path sources = Path.of("..", module, "src/main/java");
        assertEquals(List.of(), TidyPackages.violations(sources));
    }

    @Test
    void linksPointToFilesAndHeadings() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(
                Path.of("../README.md"),
                Path.of("../CHANGELOG.md"),
                Path.of("../CONTRIBUTING.md"),
                Path.of("../SECURITY.md"),
                Path.of("../benchmarks/README.md")));
        for (String folder : List.of("../docs", "../benchmarks/results")) {
            try (Stream<Path> docs = Files.walk(Path.of(folder))) {
                docs.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
            }
        }
        assertTrue(pages.size() > 3, pages::toString);
        List<String> broken =
                pages.stream().flatMap(page -> TidyLinks.broken(page).stream()).toList();
        assertEquals(List.of(), broken);
    }
}
