package io.millrace.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Style rules that can be checked on the text. They are in this module's test jar, so that every module's
 * {@code TidyTest} can check its own sources.
 */
public final class TidyRules {
    private static final int FILE_LINES_MAX = 800;
    private static final int METHOD_LINES_MAX = 60;
    private static final Pattern BANNED_TYPE_NAME = Pattern.compile("\\w*(Manager|Helper|Utils?|Impl|Info|Data)");
    private static final Pattern LOOSE_END = Pattern.compile("\\b(TODO|FIXME|XXX)\\b");
    private static final Pattern BANNED_CALL = Pattern.compile("\\bThread\\.sleep\\(|@Disabled\\b");
    /** Programs that a minimal Debian does not have. A shell has the command {@code kill} built in. */
    private static final Pattern MISSING_PROGRAM = Pattern.compile("ProcessBuilder\\(\"(kill|pkill|ps|pgrep)\"");

    private static final Pattern MONITOR = Pattern.compile("\\bsynchronized\\b");
    private static final Pattern TYPE =
            Pattern.compile("^\\s*(?:[\\w@]+ )*(?:class|interface|enum|record|@interface) (\\w+)");
    private static final Pattern METHOD_START = Pattern.compile("^( +)(?! )(?:[\\w<>@?,.\\[\\] ]+ )?\\w+\\(.*$");

    private TidyRules() {}

    /** Returns the violations in the Java files below the folder, one line each: {@code file:line: text}. */
    public static List<String> violations(Path folder) {
        return violations(folder, true);
    }

    /**
     * Returns the violations, optionally without the length of methods. Methods are found by indentation, so text
     * blocks, enum constants and wrapped calls must not look like methods.
     */
    public static List<String> violations(Path folder, boolean withMethods) {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(folder)) {
            files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .forEach(file -> check(file, withMethods, found));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static void check(Path file, boolean withMethods, List<String> found) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (lines.size() > FILE_LINES_MAX) {
            found.add(file + ": lines actual=" + lines.size() + ", limit=" + FILE_LINES_MAX);
        }
        boolean rules = file.getFileName().toString().startsWith("Tidy");
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            String where = file + ":" + (i + 1) + ": ";
            Matcher type = TYPE.matcher(line);
            if (type.find() && BANNED_TYPE_NAME.matcher(type.group(1)).matches()) {
                found.add(where + "type name " + type.group(1));
            }
            if (!rules && LOOSE_END.matcher(line).find()) {
                found.add(where + "loose end");
            }
            boolean main = !file.toString().contains("src/test/");
            if (main && !isComment(line) && MONITOR.matcher(line).find()) {
                found.add(where + "banned: " + line.trim());
            }
            if (!rules
                    && !isComment(line)
                    && (BANNED_CALL.matcher(line).find()
                            || MISSING_PROGRAM.matcher(line).find())) {
                found.add(where + "banned: " + line.trim());
            }
        }
        if (withMethods) {
            checkMethods(file, lines, found);
        }
    }

    private static boolean isComment(String line) {
        String text = line.trim();
        return text.startsWith("*") || text.startsWith("//") || text.startsWith("/*");
    }

    /** The formatter gives the first line and the closing brace of a method the same indentation. */
    private static void checkMethods(Path file, List<String> lines, List<String> found) {
        for (int i = 0; i < lines.size(); i++) {
            Matcher start = METHOD_START.matcher(lines.get(i));
            String line = lines.get(i);
            boolean opens = line.endsWith("{")
                    || (line.endsWith("(") && !line.trim().matches("(super|this|throw .*|return .*)\\("));
            if (!start.matches() || !opens) {
                continue;
            }
            String close = start.group(1) + "}";
            int end = i + 1;
            while (end < lines.size() && !lines.get(end).equals(close)) {
                end++;
            }
            if (end - i + 1 > METHOD_LINES_MAX && end < lines.size()) {
                found.add(file + ":" + (i + 1) + ": method lines actual=" + (end - i + 1) + ", limit="
                        + METHOD_LINES_MAX);
            }
        }
    }
}
