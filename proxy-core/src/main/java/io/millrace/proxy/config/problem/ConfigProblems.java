package io.millrace.proxy.config.problem;

import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Suggestions;
import io.millrace.proxy.config.value.Units;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Collects the problems of a configuration, and the place where each key was set. Confined to one thread. */
public final class ConfigProblems {
    /** A position in a file, or another source of a value. The line is 0 for a value that is not in a file. */
    public record Place(@Nullable String file, int line, int column) {
        public String text() {
            return line > 0 ? file + ":" + line + ":" + column : file == null ? "" : file;
        }
    }

    /** Limit of problems that are kept, since a file can have a million. */
    public static final int PROBLEMS_MAX = 1000;

    /** Limit of characters in a message, since messages quote values of any length. */
    private static final int LENGTH_MAX = 1000;

    /**
     * Limit of characters and list elements after alias expansion. Without aliases the count never exceeds the number
     * of bytes.
     */
    static final long EXPANDED_MAX = 4L * ConfigDocument.LENGTH_MAX;

    /**
     * Limit of characters that are compared to find suggestions. The cost of a search is the length of the mistyped
     * word, multiplied by the number of candidates. A file may have 100,000 mistyped words and as many candidates.
     */
    private static final long COMPARED_MAX = 10_000_000;

    private final List<ConfigProblem> problems = new ArrayList<>();
    private final Map<String, Place> places = new HashMap<>();

    /**
     * Names of the environment variables in values, by the path of the key. For elements of a list, this is the path of
     * the list.
     */
    private final Map<String, Set<String>> variables = new HashMap<>();

    /** Index of each file in reading order. */
    private final Map<String, Integer> files = new HashMap<>();

    /** Paths of keys and sections that have an error. Empty text for the file as a whole. */
    private final TreeSet<String> brokenPaths = new TreeSet<>();

    /** False if only places outside of list elements are kept. */
    private boolean keepsElements = true;

    private long errors;
    /** Characters and list elements after alias expansion so far. */
    private long expanded;
    /** Characters compared for suggestions so far. */
    private long compared;
    /** Number of problems beyond the limit. */
    private long omitted;

    public void error(Place place, String path, String message, @Nullable String suggestion) {
        brokenPaths.add(path);
        add(ConfigProblem.Severity.ERROR, place, path, message, suggestion);
    }

    public void error(Place place, String path, String message) {
        error(place, path, message, null);
    }

    public void warning(Place place, String path, String message) {
        add(ConfigProblem.Severity.WARNING, place, path, message, null);
    }

    private void add(
            ConfigProblem.Severity severity, Place place, String path, String message, @Nullable String suggestion) {
        boolean isError = severity == ConfigProblem.Severity.ERROR;
        errors += isError ? 1 : 0;
        if (!hasRoom() && !(isError && errors == 1)) {
            omitted++;
            return;
        }
        problems.add(new ConfigProblem(
                severity, place.file(), place.line(), place.column(), cut(path), cut(message), suggestion));
    }

    /**
     * Returns the word that is most similar to a mistyped one. Null if no word is similar, or if the limit of compared
     * characters is exceeded.
     */
    public @Nullable String closest(String typed, Collection<String> candidates) {
        long cost = (long) (typed.length() + 1) * candidates.size();
        if (!hasRoom() || compared + cost > COMPARED_MAX) {
            return null;
        }
        compared += cost;
        return Suggestions.closest(typed, candidates);
    }

    /** Returns true if another problem would be shown, so that a search for a suggestion is useful. */
    public boolean hasRoom() {
        return problems.size() < PROBLEMS_MAX;
    }

    private static String cut(String text) {
        return text.length() <= LENGTH_MAX
                ? text
                : text.substring(0, LENGTH_MAX / 2) + " ... " + text.substring(text.length() - LENGTH_MAX / 2);
    }

    /**
     * Stops recording the places of keys in list elements, such as {@code remap[2].to}. Only the checks of values need
     * these places.
     */
    public void omitElementPlaces() {
        keepsElements = false;
    }

    /** Records the place where the key at {@code path} was set; a later place replaces an earlier one. */
    public void recordPlace(String path, Place place) {
        if (!keepsElements && path.indexOf('[') >= 0) {
            return;
        }
        places.put(path, place);
        variables.remove(path);
    }

    /** Records that a value at or below {@code path} contains an environment variable. */
    public void addVariable(String path, String variable) {
        int bracket = path.indexOf('[');
        variables
                .computeIfAbsent(bracket < 0 ? path : path.substring(0, bracket), list -> new TreeSet<>())
                .add(variable);
    }

    /**
     * Counts characters after alias expansion: an aliased value counts once for each use.
     *
     * @return false if the limit is exceeded; this is reported once
     */
    public boolean countExpanded(int characters, Place place) {
        boolean within = expanded <= EXPANDED_MAX;
        expanded += 1L + characters;
        if (within && expanded > EXPANDED_MAX) {
            error(
                    place,
                    "",
                    "the aliases of the configuration expand to more characters than the limit of "
                            + Units.formatSize(EXPANDED_MAX) + " here");
        }
        return expanded <= EXPANDED_MAX;
    }

    /** Begins a file. Its problems are sorted after those of the files before it. */
    public void begin(String file) {
        files.putIfAbsent(file, files.size());
    }

    /** Returns where each key was set, except keys in list elements. */
    public Map<String, SettingPlace> places() {
        Map<String, SettingPlace> settings = new HashMap<>();
        places.forEach((path, place) -> {
            if (path.indexOf('[') < 0) {
                List<String> names = List.copyOf(variables.getOrDefault(path, Set.of()));
                settings.put(path, new SettingPlace(place.text(), names));
            }
        });
        return Map.copyOf(settings);
    }

    /** Returns the place where the key was set, else {@code otherwise}. */
    public Place placeOf(String path, Place otherwise) {
        return places.getOrDefault(path, otherwise);
    }

    /** A check of a value. */
    @FunctionalInterface
    public interface Check {
        void run() throws InvalidValueException;
    }

    /**
     * Runs a check of the value at a path, and adds its failure as an error. No effect if the value could not be read.
     *
     * @param otherwise place of the error if the path has none
     */
    public void check(String path, Place otherwise, Check check) {
        if (isBroken(path)) {
            return;
        }
        try {
            check.run();
        } catch (InvalidValueException e) {
            error(placeOf(path, otherwise), path, e.problem(), e.suggestion());
        }
    }

    /**
     * Marks the key at {@code path} as erroneous without adding a problem. Used for the key that a misspelt name
     * probably means, so that checks do not report this key as missing.
     */
    public void markUnreadable(String path) {
        brokenPaths.add(path);
    }

    /**
     * Returns true if the key at {@code path}, or a section that contains it, has an error. Its value is then only the
     * default.
     */
    public boolean isBroken(String path) {
        if (brokenPaths.contains("")) {
            return true;
        }
        for (int end = path.length(); end > 0; end = path.lastIndexOf('.', end - 1)) {
            if (brokenPaths.contains(path.substring(0, end))) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if a key below {@code path} could not be read. */
    public boolean isAnyBrokenBelow(String path) {
        return isAnyBrokenFrom(path + ".") || isAnyBrokenFrom(path + "[");
    }

    private boolean isAnyBrokenFrom(String prefix) {
        String next = brokenPaths.ceiling(prefix);
        return next != null && next.startsWith(prefix);
    }

    public boolean hasErrors() {
        return errors > 0;
    }

    /**
     * Returns the problems in order. Those with a line in a file are first, in the order of the files. The others
     * follow in the order of their report.
     */
    public List<ConfigProblem> sorted() {
        List<ConfigProblem> sorted = new ArrayList<>(problems);
        sorted.sort(Comparator.<ConfigProblem>comparingInt(p -> p.line() > 0 ? 0 : 1)
                .thenComparingInt(p -> files.getOrDefault(p.file(), 0))
                .thenComparingInt(ConfigProblem::line)
                .thenComparingInt(ConfigProblem::column));
        if (omitted > 0) {
            sorted.add(new ConfigProblem(
                    errors > 0 ? ConfigProblem.Severity.ERROR : ConfigProblem.Severity.WARNING,
                    null,
                    0,
                    0,
                    "",
                    omitted + " more problems are not shown, the limit is " + PROBLEMS_MAX,
                    null));
        }
        return List.copyOf(sorted);
    }
}
