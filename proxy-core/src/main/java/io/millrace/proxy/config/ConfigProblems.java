package io.millrace.proxy.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Collects everything that is wrong, and remembers where each key was set. Confined to one thread. */
final class ConfigProblems {
    /** Where something stands; line 0 for what is not in a file. */
    record Place(@Nullable String file, int line, int column) {
        String text() {
            return line > 0 ? file + ":" + line + ":" + column : file == null ? "" : file;
        }
    }

    private final List<ConfigProblem> problems = new ArrayList<>();
    private final Map<String, Place> places = new HashMap<>();

    /** Names of variables by path, those in elements of a list by the list's. */
    private final Map<String, Set<String>> variables = new HashMap<>();

    /** Files in the order in which they were read. */
    private final Map<String, Integer> files = new HashMap<>();

    private final Set<String> broken = new HashSet<>();

    void error(Place place, String path, String message, @Nullable String suggestion) {
        broken.add(path);
        add(ConfigProblem.Severity.ERROR, place, path, message, suggestion);
    }

    void error(Place place, String path, String message) {
        error(place, path, message, null);
    }

    void warning(Place place, String path, String message) {
        add(ConfigProblem.Severity.WARNING, place, path, message, null);
    }

    private void add(
            ConfigProblem.Severity severity, Place place, String path, String message, @Nullable String suggestion) {
        problems.add(
                new ConfigProblem(severity, place.file(), place.line(), place.column(), path, message, suggestion));
    }

    /** Remembers that the key at {@code path} was set here; a later place wins. */
    void setAt(String path, Place place) {
        places.put(path, place);
        variables.remove(path);
    }

    /** Remembers that a value at {@code path}, or below it, came from a variable of the environment. */
    void takenFrom(String path, String variable) {
        int bracket = path.indexOf('[');
        variables
                .computeIfAbsent(bracket < 0 ? path : path.substring(0, bracket), list -> new TreeSet<>())
                .add(variable);
    }

    /** Problems of this file come after those of the files before it. */
    void begin(String file) {
        files.putIfAbsent(file, files.size());
    }

    /** Where each key was set, those in elements of lists apart. */
    Map<String, SettingPlace> places() {
        Map<String, SettingPlace> settings = new HashMap<>();
        places.forEach((path, place) -> {
            if (path.indexOf('[') < 0) {
                List<String> names = List.copyOf(variables.getOrDefault(path, Set.of()));
                settings.put(path, new SettingPlace(place.text(), names));
            }
        });
        return Map.copyOf(settings);
    }

    /** Where the key was set, else {@code otherwise}. */
    Place placeOf(String path, Place otherwise) {
        return places.getOrDefault(path, otherwise);
    }

    /** Notes that the key at {@code path} was meant to be set, though it could not be read. */
    void setInVain(String path) {
        broken.add(path);
    }

    /** Whether the value at {@code path} is only a default, because what the operator wrote has an error of its own. */
    boolean isBroken(String path) {
        if (broken.contains("")) {
            return true;
        }
        for (int end = path.length(); end > 0; end = path.lastIndexOf('.', end - 1)) {
            if (broken.contains(path.substring(0, end))) {
                return true;
            }
        }
        return false;
    }

    /** Whether something below {@code path} could not be read. */
    boolean isAnyBrokenBelow(String path) {
        return broken.stream().anyMatch(each -> each.startsWith(path + "."));
    }

    boolean hasErrors() {
        return problems.stream().anyMatch(problem -> problem.severity() == ConfigProblem.Severity.ERROR);
    }

    /** What stands in the file first, in its order; then the rest as it was found. */
    List<ConfigProblem> sorted() {
        List<ConfigProblem> sorted = new ArrayList<>(problems);
        sorted.sort(Comparator.<ConfigProblem>comparingInt(p -> p.line() > 0 ? 0 : 1)
                .thenComparingInt(p -> files.getOrDefault(p.file(), 0))
                .thenComparingInt(ConfigProblem::line)
                .thenComparingInt(ConfigProblem::column));
        return List.copyOf(sorted);
    }
}
