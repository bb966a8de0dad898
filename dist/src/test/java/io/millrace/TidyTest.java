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
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
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

    @ParameterizedTest
    @ValueSource(strings = {"cache-store", "proxy-core", "admin-cli", "benchmarks", "dist"})
    void packagesAreSmall(String module) {
        Path sources = Path.of("..", module, "src/main/java");
        assertEquals(List.of(), TidyPackages.violations(sources, largePackages(module)));
    }

    /** Packages of a module that hold more types than the limit, with their counts. A count may only fall. */
    private static Map<String, Integer> largePackages(String module) {
        return switch (module) {
            case "cache-store" -> Map.of("io.millrace.store.disk", 40, "io.millrace.store.engine", 60);
            case "proxy-core" -> Map.of("io.millrace.proxy.config", 105, "io.millrace.proxy.exchange", 57);
            case "dist" -> Map.of("io.millrace.launcher", 57, "io.millrace.launcher.ats", 49);
            default -> Map.of();
        };
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
