package io.millrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.Metric;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.store.TidyLinks;
import io.millrace.store.TidyPackages;
import io.millrace.store.TidyRules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
                "../wasm/src",
                "src",
                "../src/test"
            })
    void sourcesAreTidy(String folder) {
        assertTrue(Files.isDirectory(Path.of(folder)), folder);
        assertEquals(List.of(), TidyRules.violations(Path.of(folder), false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"cache-store", "proxy-core", "admin-cli", "benchmarks", "wasm", "dist"})
    void packagesAreSmall(String module) {
        Path sources = Path.of("..", module, "src/main/java");
        assertEquals(List.of(), TidyPackages.violations(sources));
    }

    /** A metric that nothing supplies would be documented, and drawn by dashboards, but never there. */
    @Test
    void everyMetricIsSuppliedOutsideItsTable() throws IOException {
        StringBuilder code = new StringBuilder();
        for (String module : List.of("proxy-core", "dist")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src/main/java"))) {
                for (Path file :
                        files.filter(one -> one.toString().endsWith(".java")).toList()) {
                    code.append(Files.readString(file));
                }
            }
        }
        Set<String> words = new HashSet<>(List.of(code.toString().split("[^A-Z0-9a-z_.]+", -1)));
        List<String> missing = new ArrayList<>();
        for (Metric family : Metric.all()) {
            boolean isCounted = Stream.of(Counter.values()).anyMatch(counter -> counter.family() == family);
            if (!isCounted
                    && !words.contains(((Enum<?>) family).getDeclaringClass().getSimpleName() + "." + family.name())) {
                missing.add(family.metricName());
            }
        }
        for (Counter counter : Counter.values()) {
            // These are chosen inside the table, by result and status.
            boolean isOfTable = counter.family() == MetricFamily.REQUESTS || counter.family() == MetricFamily.RESPONSES;
            if (!isOfTable && !words.contains("Counter." + counter.name())) {
                missing.add(counter.name());
            }
        }
        assertEquals(List.of(), missing);
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
