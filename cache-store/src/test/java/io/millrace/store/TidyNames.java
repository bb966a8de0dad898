package io.millrace.store;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of types and files in code font in Markdown files. */
public final class TidyNames {
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern TYPE =
            Pattern.compile("(?:[a-z]+\\.)*([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?:\\.\\w+)?(?:\\(\\))?");
    private static final Pattern FILE =
            Pattern.compile("(?:docs|benchmarks|dist|proxy-core|cache-store|admin-cli|src|\\.ci)/[\\w./-]+");

    private TidyNames() {}

    /**
     * Returns names in the page that denote nothing, one line each: {@code page:line: name}.
     *
     * @param root folder that contains the named files; its folders {@code target} are skipped
     * @param types names of types, without packages
     */
    public static List<String> missing(Path page, Path root, Set<String> types) {
        List<String> found = new ArrayList<>();
        int number = 0;
        for (String line : TidyLinks.withoutCode(page)) {
            number++;
            Matcher code = CODE.matcher(line);
            while (code.find()) {
                if (isMissing(code.group(1), root, types)) {
                    found.add(page + ":" + number + ": " + code.group(1));
                }
            }
        }
        return found;
    }

    private static boolean isMissing(String word, Path root, Set<String> types) {
        Matcher type = TYPE.matcher(word);
        if (type.matches()) {
            return !types.contains(type.group(1));
        }
        return FILE.matcher(word).matches() && !word.contains("target/") && !Files.exists(root.resolve(word));
    }
}
