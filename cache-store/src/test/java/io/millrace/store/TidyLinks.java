package io.millrace.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Links from one page of the documentation to another file. */
public final class TidyLinks {
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern OUTSIDE = Pattern.compile("(?:[a-z]+:|#).*");

    private TidyLinks() {}

    /** Relative links of the Markdown file that point to nothing, a line each: {@code file:line: link}. */
    public static List<String> broken(Path file) {
        List<String> found = new ArrayList<>();
        boolean code = false;
        int number = 0;
        for (String line : lines(file)) {
            number++;
            code ^= line.startsWith("```");
            Matcher link = LINK.matcher(line);
            while (!code && link.find()) {
                String target = link.group(1);
                boolean outside = OUTSIDE.matcher(target).matches();
                if (!outside && !Files.exists(file.resolveSibling(target.replaceAll("#.*", "")))) {
                    found.add(file + ":" + number + ": " + target);
                }
            }
        }
        return found;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
