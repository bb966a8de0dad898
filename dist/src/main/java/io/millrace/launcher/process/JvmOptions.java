package io.millrace.launcher.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads JVM options from {@code conf/jvm.options} and {@code conf/jvm.options.d/*.options}. A line contains one option,
 * or a comment after {@code #}. It may begin with the Java releases to which it applies, such as {@code 17:},
 * {@code 17-20:} or {@code 21-:}. Stateless.
 */
final class JvmOptions {
    private static final Pattern RELEASES = Pattern.compile("(\\d{1,9})(-(\\d{1,9})?)?:(.*)");

    private JvmOptions() {}

    /**
     * Returns the options for the Java release {@code feature}. Options of the file precede those of the directory,
     * which are in the order of file names.
     */
    static List<String> read(Path conf, int feature) throws IOException {
        List<Path> files = new ArrayList<>();
        Path main = conf.resolve("jvm.options");
        if (Files.isRegularFile(main)) {
            files.add(main);
        }
        Path directory = conf.resolve("jvm.options.d");
        if (Files.isDirectory(directory)) {
            try (Stream<Path> entries = Files.list(directory)) {
                entries.filter(file -> file.toString().endsWith(".options"))
                        .sorted()
                        .forEach(files::add);
            }
        }
        List<String> options = new ArrayList<>();
        for (Path file : files) {
            int number = 0;
            for (String line : Files.readAllLines(file)) {
                number++;
                options.addAll(parse(line.strip(), feature, file + ":" + number));
            }
        }
        return options;
    }

    /**
     * Returns the option of a line. Returns an empty list if the line does not apply to the Java release
     * {@code feature}.
     */
    static List<String> parse(String line, int feature, String where) throws IOException {
        if (line.isEmpty() || line.startsWith("#")) {
            return List.of();
        }
        if (line.startsWith("-")) {
            return List.of(line);
        }
        Matcher matcher = RELEASES.matcher(line);
        String option = matcher.matches() ? matcher.group(4).strip() : "";
        if (!option.startsWith("-")) {
            throw new IOException(where + ": '" + line
                    + "' is not valid; expected an option, or Java releases and an option, such as 21-:-XX:+UseZGC");
        }
        int first = Integer.parseInt(matcher.group(1));
        int last;
        if (matcher.group(2) == null) {
            last = first;
        } else {
            last = matcher.group(3) == null ? Integer.MAX_VALUE : Integer.parseInt(matcher.group(3));
        }
        return feature >= first && feature <= last ? List.of(option) : List.of();
    }
}
