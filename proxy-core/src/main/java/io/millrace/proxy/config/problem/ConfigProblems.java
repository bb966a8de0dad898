package io.millrace.proxy.config.problem;

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

/** Collects everything that is wrong, and remembers where each key was set. Confined to one thread. */
public final class ConfigProblems {
    /** Where something stands; line 0 for what is not in a file. */
    public record Place(@Nullable String file, int line, int column) {
        public String text() {
            return line > 0 ? file + ":" + line + ":" + column : file == null ? "" : file;
        }
    }

    /** Problems that are kept: nobody reads more, and a file can have a million. */
    public static final int PROBLEMS_MAX = 1000;

    /** Characters of a message that are kept: values of any length are quoted in them. */
    private static final int LENGTH_MAX = 1000;

    /** Characters and list elements with every alias unfolded. Without aliases a configuration has no more than its bytes. */
    static final long UNFOLDED_MAX = 4L * ConfigDocument.LENGTH_MAX;

    /** Characters of mistyped words, each for every candidate, that are compared: there may be 100,000 of both. */
    private static final long SEARCHED_MAX = 10_000_000;

    private final List<ConfigProblem> problems = new ArrayList<>();
    private final Map<String, Place> places = new HashMap<>();

    /** Names of variables by path, those in elements of a list by the list's. */
    private final Map<String, Set<String>> variables = new HashMap<>();

    /** Files in the order in which they were read. */
    private final Map<String, Integer> files = new HashMap<>();

    private final TreeSet<String> broken = new TreeSet<>();
    private long errors;
    private long unfolded;
    private long searched;
    private long left;

    public void error(Place place, String path, String message, @Nullable String suggestion) {
        broken.add(path);
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
        if (!keepsMore() && !(isError && errors == 1)) {
            left++;
            return;
        }
        problems.add(new ConfigProblem(
                severity, place.file(), place.line(), place.column(), cut(path), cut(message), suggestion));
    }

    /** The word nearest to a mistyped one, null where none is near, or the searches before have cost too much. */
    public @Nullable String closest(String typed, Collection<String> candidates) {
        long cost = (long) (typed.length() + 1) * candidates.size();
        if (!keepsMore() || searched + cost > SEARCHED_MAX) {
            return null;
        }
        searched += cost;
        return Suggestions.closest(typed, candidates);
    }

    /** Whether another problem would be shown, and is worth a search for what was meant. */
    public boolean keepsMore() {
        return problems.size() < PROBLEMS_MAX;
    }

    private static String cut(String text) {
        return text.length() <= LENGTH_MAX
                ? text
                : text.substring(0, LENGTH_MAX / 2) + " ... " + text.substring(text.length() - LENGTH_MAX / 2);
    }

    /** Remembers that the key at {@code path} was set here; a later place wins. */
    public void setAt(String path, Place place) {
        places.put(path, place);
        variables.remove(path);
    }

    /** Remembers that a value at {@code path}, or below it, came from a variable of the environment. */
    public void takenFrom(String path, String variable) {
        int bracket = path.indexOf('[');
        variables
                .computeIfAbsent(bracket < 0 ? path : path.substring(0, bracket), list -> new TreeSet<>())
                .add(variable);
    }

    /**
     * Counts what is read, each alias as often as it stands for something.
     *
     * @return false when the limit is passed, which is then one of the problems
     */
    public boolean unfolds(int characters, Place place) {
        boolean within = unfolded <= UNFOLDED_MAX;
        unfolded += 1L + characters;
        if (within && unfolded > UNFOLDED_MAX) {
            error(
                    place,
                    "",
                    "the aliases of the configuration expand to more nodes than the limit of "
                            + Units.formatSize(UNFOLDED_MAX) + " here");
        }
        return unfolded <= UNFOLDED_MAX;
    }

    /** Problems of this file come after those of the files before it. */
    public void begin(String file) {
        files.putIfAbsent(file, files.size());
    }

    /** Where each key was set, those in elements of lists apart. */
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

    /** Where the key was set, else {@code otherwise}. */
    public Place placeOf(String path, Place otherwise) {
        return places.getOrDefault(path, otherwise);
    }

    /** Notes that the key at {@code path} was meant to be set, though it could not be read. */
    public void setInVain(String path) {
        broken.add(path);
    }

    /** Whether the value at {@code path} is only a default, because what the operator wrote has an error of its own. */
    public boolean isBroken(String path) {
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
    public boolean isAnyBrokenBelow(String path) {
        return isAnyBrokenFrom(path + ".") || isAnyBrokenFrom(path + "[");
    }

    private boolean isAnyBrokenFrom(String prefix) {
        String next = broken.ceiling(prefix);
        return next != null && next.startsWith(prefix);
    }

    public boolean hasErrors() {
        return errors > 0;
    }

    /** What stands in the file first, in its order; then the rest as it was found. */
    public List<ConfigProblem> sorted() {
        List<ConfigProblem> sorted = new ArrayList<>(problems);
        sorted.sort(Comparator.<ConfigProblem>comparingInt(p -> p.line() > 0 ? 0 : 1)
                .thenComparingInt(p -> files.getOrDefault(p.file(), 0))
                .thenComparingInt(ConfigProblem::line)
                .thenComparingInt(ConfigProblem::column));
        if (left > 0) {
            sorted.add(new ConfigProblem(
                    errors > 0 ? ConfigProblem.Severity.ERROR : ConfigProblem.Severity.WARNING,
                    null,
                    0,
                    0,
                    "",
                    left + " more problems are not shown, the limit is " + PROBLEMS_MAX,
                    null));
        }
        return List.copyOf(sorted);
    }
}
