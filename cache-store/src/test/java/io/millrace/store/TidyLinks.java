package io.millrace.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Relative links in Markdown files, with their anchors. */
public final class TidyLinks {
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern OUTSIDE = Pattern.compile("[a-z]+:.*");
    private static final Pattern HEADING = Pattern.compile("#{1,6}\\s+(.*?)\\s*#*");
    private static final Pattern LINK_TEXT = Pattern.compile("\\[([^]]*)]\\([^)]*\\)");

    private TidyLinks() {}

    /**
     * Returns the relative links of the Markdown file to missing files or headings, one line each:
     * {@code file:line: link}.
     */
    public static List<String> broken(Path file) {
        List<String> found = new ArrayList<>();
        int number = 0;
        for (String line : withoutCode(file)) {
            number++;
            Matcher link = LINK.matcher(line);
            while (link.find()) {
                String target = link.group(1);
                if (!OUTSIDE.matcher(target).matches() && !leadsSomewhere(file, target)) {
                    found.add(file + ":" + number + ": " + target);
                }
            }
        }
        return found;
    }

    private static boolean leadsSomewhere(Path file, String target) {
        int hash = target.indexOf('#');
        String path = hash < 0 ? target : target.substring(0, hash);
        Path page = path.isEmpty() ? file : file.resolveSibling(path);
        if (!Files.exists(page)) {
            return false;
        }
        return hash < 0 || !page.toString().endsWith(".md") || anchors(page).contains(target.substring(hash + 1));
    }

    /**
     * Returns the anchors of the headings, as GitHub creates them: lower case, hyphens for spaces, repeated ones
     * numbered.
     */
    public static Set<String> anchors(Path page) {
        Set<String> found = new HashSet<>();
        Map<String, Integer> seen = new HashMap<>();
        for (String line : withoutCode(page)) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                String anchor = anchor(heading.group(1));
                int before = seen.merge(anchor, 1, Integer::sum) - 1;
                found.add(before == 0 ? anchor : anchor + "-" + before);
            }
        }
        return found;
    }

    private static String anchor(String heading) {
        String text = LINK_TEXT.matcher(heading).replaceAll("$1").toLowerCase(Locale.ROOT);
        return text.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
    }

    /** Returns the lines; those in fenced code blocks are empty. */
    static List<String> withoutCode(Path file) {
        List<String> found = new ArrayList<>();
        boolean code = false;
        try {
            for (String line : Files.readAllLines(file)) {
                boolean fence = line.startsWith("```");
                code ^= fence;
                found.add(code || fence ? "" : line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }
}
