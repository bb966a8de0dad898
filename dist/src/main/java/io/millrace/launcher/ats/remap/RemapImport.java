package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The importer of remap.config with its included files. Confined to one thread. */
public final class RemapImport {
    /** Limit of included files. Traffic Server has none. */
    private static final int INCLUDES_MAX = 1000;

    private final ImportState state;
    private final RemapRules rules;
    private final RemapFilters filters;
    /** Files whose reading has begun but not ended, to detect a file that includes itself. */
    private final Deque<String> openFiles = new ArrayDeque<>();

    private final Map<String, List<Words>> linesByFile = new HashMap<>();
    private int includes;

    /** Creates an import from {@code state} that adds rules to {@code rules}. */
    public RemapImport(ImportState state, RemapRules rules) {
        this.state = state;
        this.rules = rules;
        filters = rules.filters();
    }

    /** Imports the file, if it exists. */
    public void read() {
        SourceFile file = state.read(state.fileNameOf("url_remap.filename", "remap.config"));
        if (file != null) {
            read(file);
        }
        filters.finish();
    }

    private void read(SourceFile file) {
        openFiles.push(file.name());
        // The report contains the lines of a file once, even if the file is included twice.
        for (Words words : linesByFile.computeIfAbsent(file.name(), name -> Words.ofRemap(file))) {
            if (words.at(0).equals(".include")) {
                include(file, words);
            } else if (words.at(0).startsWith(".")) {
                filters.directive(file, words);
            } else {
                readRule(file, words);
            }
        }
        openFiles.pop();
    }

    private void include(SourceFile file, Words words) {
        for (int i = 1; i < words.words().size(); i++) {
            String name = words.at(i);
            String relative = state.relative(name);
            List<String> names = state.isDirectory(relative) ? state.list(relative) : List.of(relative);
            for (String each : names) {
                String problem = include(each);
                if (problem != null) {
                    file.problem(words.entry().line(), words.columns().get(i), each + problem);
                }
            }
        }
        words.entry().note("the rules of the file replace the line");
    }

    /** @return the problem; null if the file was read */
    private @Nullable String include(String name) {
        if (openFiles.contains(name)) {
            return " includes itself";
        }
        if (++includes > INCLUDES_MAX) {
            return ": more than " + INCLUDES_MAX + " files are included";
        }
        SourceFile next = state.read(name);
        if (next == null) {
            return ": no such file";
        }
        boolean before = filters.beginFile();
        read(next);
        filters.endFile(before);
        return null;
    }

    /**
     * Imports a rule. Its words are the kind, two URLs and further arguments. Words that begin with {@code @} may be
     * anywhere between them.
     */
    private void readRule(SourceFile file, Words words) {
        List<String> plain =
                words.words().stream().filter(word -> !word.startsWith("@")).toList();
        if (plain.size() < 3) {
            file.problem(words.entry(), words.at(0) + " needs two URLs");
            return;
        }
        List<String> more = plain.subList(3, plain.size());
        RemapRule rule = rules.begin(words.entry(), plain.get(0), plain.get(1), plain.get(2));
        if (rule == null) {
            return;
        }
        if (!plain.get(0).equalsIgnoreCase("map_with_referer")) {
            explain(rule, more);
        } else if (rules.isRefererChecked() && more.size() < 2) {
            file.problem(
                    words.entry(),
                    "map_with_referer needs a redirect URL for refused requests, and expressions for Referer");
            return;
        } else if (rules.isRefererChecked()) {
            rules.setReferers(rule, more.get(0), more.subList(1, more.size()));
        }
        for (int i = 0; i < words.words().size(); i++) {
            if (words.at(i).startsWith("@") && !filters.addTerm(file, words, i)) {
                rules.arguments().importArgument(words.at(i).substring(1), rule);
            }
        }
        rules.write(rule);
    }

    private static void explain(RemapRule rule, List<String> more) {
        for (int i = 0; i < more.size(); i++) {
            if (more.get(i).startsWith("#")) {
                rule.entry().note("'#' does not begin a comment in the middle of a line: words with @ after it apply");
                return;
            }
            if (i == 0 && rule.verb().contains("map")) {
                rule.entry().note("the tag '" + more.get(i) + "' is not used");
            } else {
                rule.entry().notMapped("'" + more.get(i) + "' is not understood");
            }
        }
    }
}
