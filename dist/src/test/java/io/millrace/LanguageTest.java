package io.millrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.TidyLanguage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Pages and comments avoid the phrases of {@link TidyLanguage}. Older files are listed with the number of phrases that they
 * may still have. The number may only fall: {@code -Dmillrace.language.write=true} lowers it and never raises it.
 *
 * <p>The list names files without their directory, so that a moved file keeps its line. Rename the line of a renamed file.
 */
class LanguageTest {
    private static final Path ROOT = Path.of("..");
    private static final Path LIST = Path.of("src/test/resources/language-offenders.txt");

    @Test
    void textsAvoidBannedPhrases() throws IOException {
        Map<String, List<String>> found = violations();
        Map<String, Integer> allowed = allowed(Files.readAllLines(LIST));
        if (Boolean.getBoolean("millrace.language.write")) {
            Files.write(LIST, lowered(found, allowed));
        }
        assertEquals("", String.join("\n", problems(found, allowed(Files.readAllLines(LIST)))));
    }

    @Test
    void moreAndFewerPhrasesThanListedAreFound() {
        Map<String, List<String>> found =
                Map.of("New.java", List.of("New.java:1: What"), "Less.java", List.of("Less.java:1: Who"));
        Map<String, Integer> allowed = allowed(List.of("2 Less.java", "1 Gone.java"));
        List<String> problems = problems(found, allowed);
        assertEquals(3, problems.size(), problems::toString);
        assertTrue(problems.get(2).contains("New.java:1: What"), problems::toString);
        assertEquals(List.of("1 Less.java"), lowered(found, allowed));
    }

    private static List<String> problems(Map<String, List<String>> found, Map<String, Integer> allowed) {
        List<String> problems = new ArrayList<>();
        Map<String, Integer> names = new TreeMap<>(allowed);
        found.keySet().forEach(name -> names.putIfAbsent(name, 0));
        names.forEach((name, limit) -> {
            List<String> phrases = found.getOrDefault(name, List.of());
            if (phrases.size() > limit) {
                problems.add(name + ": banned phrases actual=" + phrases.size() + ", limit=" + limit
                        + "; write a sentence with a noun as its subject and standard terms:\n  "
                        + String.join("\n  ", phrases));
            } else if (phrases.size() < limit) {
                problems.add(name + ": banned phrases actual=" + phrases.size() + ", listed=" + limit
                        + "; lower the list: -Dtest=LanguageTest -Dmillrace.language.write=true");
            }
        });
        return problems;
    }

    private static List<String> lowered(Map<String, List<String>> found, Map<String, Integer> allowed) {
        List<String> lines = new ArrayList<>();
        new TreeMap<>(allowed).forEach((name, limit) -> {
            int count = Math.min(limit, found.getOrDefault(name, List.of()).size());
            if (count > 0) {
                lines.add(count + " " + name);
            }
        });
        return lines;
    }

    private static Map<String, Integer> allowed(List<String> lines) {
        Map<String, Integer> allowed = new TreeMap<>();
        for (String line : lines) {
            int space = line.indexOf(' ');
            allowed.put(line.substring(space + 1), Integer.parseInt(line.substring(0, space)));
        }
        return allowed;
    }

    private static Map<String, List<String>> violations() throws IOException {
        Map<String, List<String>> found = new TreeMap<>();
        for (Path file : texts()) {
            List<String> phrases = TidyLanguage.violations(file);
            if (!phrases.isEmpty()) {
                found.computeIfAbsent(file.getFileName().toString(), name -> new ArrayList<>())
                        .addAll(phrases);
            }
        }
        return found;
    }

    /** Returns all pages, and all Java files except those of the rules, whose texts are examples. */
    private static List<Path> texts() throws IOException {
        List<Path> texts = new ArrayList<>();
        for (String page :
                List.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md")) {
            texts.add(ROOT.resolve(page));
        }
        for (String folder : List.of(
                "docs",
                "benchmarks/results",
                "cache-store/src",
                "proxy-core/src",
                "admin-cli/src",
                "dist/src",
                "benchmarks/src",
                "wasm/src",
                "src")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
                files.filter(file -> file.toString().matches(".*\\.(?:java|md)"))
                        .filter(file -> !file.getFileName().toString().startsWith("Tidy"))
                        .forEach(texts::add);
            }
        }
        assertTrue(texts.size() > 1000, () -> "texts actual=" + texts.size());
        return texts;
    }
}
