package io.millrace.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Limit of top-level types per package. Every module's {@code TidyTest} can call it. */
public final class TidyPackages {
    private static final int TYPES_MAX = 25;

    private TidyPackages() {}

    /**
     * Packages with too many types, one line each.
     *
     * @param sources the folder {@code src/main/java} of a module
     */
    public static List<String> violations(Path sources) {
        List<String> found = new ArrayList<>();
        counts(sources).forEach((name, count) -> {
            if (count > TYPES_MAX) {
                found.add(
                        name + ": types actual=" + count + ", limit=" + TYPES_MAX + "; move types to another package");
            }
        });
        return found;
    }

    private static Map<String, Integer> counts(Path sources) {
        Map<String, Integer> counts = new TreeMap<>();
        try (Stream<Path> files = Files.walk(sources)) {
            files.filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
                    .forEach(file -> counts.merge(packageOf(sources, file), 1, Integer::sum));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return counts;
    }

    private static String packageOf(Path sources, Path file) {
        return sources.relativize(file.getParent()).toString().replace('/', '.');
    }
}
