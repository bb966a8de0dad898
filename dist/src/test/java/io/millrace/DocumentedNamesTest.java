package io.millrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.TidyNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that classes and files named in the documentation exist. */
class DocumentedNamesTest {
    private static final Path ROOT = Path.of("..");

    /**
     * Words in code font that look like classes of this project but are units, HTTP fields, classes of libraries,
     * checks, or systemd settings.
     */
    private static final Set<String> OTHER_WORDS = Set.of(
            "KiB",
            "MiB",
            "GiB",
            "TiB",
            "NaN",
            "Connection",
            "Cookie",
            "Link",
            "Age",
            "Vary",
            "Destination",
            "Forwarded",
            "Host",
            "Upgrade",
            "KillMode",
            "WatchdogSec",
            "HttpClientCodec",
            "OutOfDirectMemoryError",
            "SslHandler",
            "FutureReturnValueIgnored",
            "InlineMeSuggester",
            "MeterRegistry",
            "HistogramGauges",
            "MissingSummary",
            "StringConcatToTextBlock");

    @Test
    void namedClassesAndFilesExist() throws IOException {
        List<Path> pages = pages();
        assertTrue(pages.size() > 20, pages::toString);
        Set<String> known = typesOf();
        known.addAll(OTHER_WORDS);
        List<String> missing = new ArrayList<>();
        for (Path page : pages) {
            missing.addAll(TidyNames.missing(page, ROOT, known));
        }
        assertEquals(List.of(), missing);
    }

    @Test
    void architecturePageNamesEachPackage() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/ARCHITECTURE.md"));
        List<String> missing = new ArrayList<>();
        for (String module : List.of("cache-store", "proxy-core", "admin-cli", "dist")) {
            Path sources = ROOT.resolve(module).resolve("src/main/java/io/millrace");
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.endsWith("package-info.java"))
                        .map(file -> sources.relativize(file.getParent()).toString())
                        .map(name -> name.replaceFirst("^(store|proxy|launcher|worker|cli)/", "")
                                .replace('/', '.'))
                        .filter(name -> !List.of("store", "proxy").contains(name))
                        .filter(name -> !page.contains("`" + name + "`"))
                        .forEach(missing::add);
            }
        }
        assertEquals(List.of(), missing);
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(
                ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md"), ROOT.resolve("benchmarks/README.md")));
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            docs.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
        }
        return pages;
    }

    private static Set<String> typesOf() throws IOException {
        Set<String> found = new HashSet<>();
        for (String module : List.of("cache-store", "proxy-core", "admin-cli", "dist", "benchmarks", "wasm", ".")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src"))) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".java"))
                        .forEach(name -> found.add(name.substring(0, name.length() - ".java".length())));
            }
        }
        return found;
    }
}
