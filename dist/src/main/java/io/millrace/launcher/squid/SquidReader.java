package io.millrace.launcher.squid;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The reader of squid.conf, of its included files, and of files with values of lists. Confined to one thread. */
final class SquidReader {
    /** Limit of nested includes; Squid's own limit is 16. */
    private static final int DEPTH_MAX = 16;

    private final Workspace workspace;
    private final List<SquidLine> lines = new ArrayList<>();

    SquidReader(Workspace workspace) {
        this.workspace = workspace;
    }

    List<SquidLine> lines() {
        return lines;
    }

    void read(Path path, int depth) {
        SourceFile file = workspace.read(path);
        List<String> texts = file.lines();
        for (int i = 0; i < texts.size(); i++) {
            int first = i;
            StringBuilder text = new StringBuilder(texts.get(i));
            while (text.toString().stripTrailing().endsWith("\\") && i + 1 < texts.size()) {
                text.setLength(text.toString().stripTrailing().length() - 1);
                text.append(' ').append(texts.get(++i).strip());
            }
            String line = text.toString().strip();
            if (line.isEmpty() || line.startsWith("#")) {
                file.markProcessed(first + 1, i + 1);
                continue;
            }
            String shown = line.replaceAll("\\s+#.*", "").replace('\t', ' ');
            Entry entry = file.entry(first + 1, i + 1, 1, shown);
            List<String> words = words(line);
            if (words.isEmpty()) {
                continue;
            }
            SquidLine directive = new SquidLine(words.get(0), words.subList(1, words.size()), entry);
            if (directive.name().equals("include")) {
                include(directive, path, depth);
            } else {
                lines.add(directive);
            }
        }
    }

    private static List<String> words(String line) {
        List<String> words = new ArrayList<>();
        for (String word : line.split("\\s+", -1)) {
            if (word.startsWith("#")) {
                break;
            }
            if (!word.isEmpty()) {
                words.add(word);
            }
        }
        return words;
    }

    private void include(SquidLine include, Path path, int depth) {
        if (depth >= DEPTH_MAX) {
            include.notMapped("includes are nested more than " + DEPTH_MAX + " levels deep");
            return;
        }
        for (String word : include.args()) {
            List<Path> found = find(word.replace("\"", ""), path);
            if (found.isEmpty() && word.contains("*")) {
                include.note("no file matches the pattern");
            } else if (found.isEmpty()) {
                include.notMapped("the file does not exist: its lines are missing here");
            } else {
                include.note("the lines are in this report");
                found.stream().filter(each -> !workspace.isRead(each)).forEach(each -> read(each, depth + 1));
            }
        }
    }

    /**
     * Finds the files for a name or pattern. If /etc/squid was copied for the import, names in the copy still begin
     * with /etc/squid.
     */
    private List<Path> find(String word, Path from) {
        Path parent = from.toAbsolutePath().getParent();
        List<Path> candidates = new ArrayList<>();
        if (!word.startsWith("/") && parent != null) {
            candidates.add(parent.resolve(word));
        }
        if (word.startsWith("/etc/squid/")) {
            candidates.add(workspace.base().resolve(word.substring("/etc/squid/".length())));
        }
        candidates.add(Path.of(word));
        for (Path each : candidates) {
            Path folder = each.getParent();
            Path name = each.getFileName();
            List<Path> found = new ArrayList<>();
            if (folder != null && name != null && word.matches(".*[*?\\[].*")) {
                try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, name.toString())) {
                    entries.forEach(found::add);
                } catch (IOException e) {
                    // A missing directory has no files.
                    continue;
                }
                found.sort(null);
            } else if (Files.isRegularFile(each)) {
                found.add(each);
            }
            if (!found.isEmpty()) {
                return List.copyOf(found);
            }
        }
        return List.of();
    }

    /**
     * Returns the values of a list. A word in quotes is the name of a file with one value on each line.
     *
     * @param line the line with the list, which gets a note about missing files
     */
    List<String> values(SquidLine line, List<String> words) {
        List<String> values = new ArrayList<>();
        for (String word : words) {
            boolean quoted = word.length() > 2 && word.startsWith("\"") && word.endsWith("\"");
            if (!quoted) {
                values.add(word);
                continue;
            }
            List<Path> found =
                    find(word.substring(1, word.length() - 1), workspace.base().resolve("squid.conf"));
            if (found.isEmpty()) {
                line.notMapped(word + ": the file does not exist");
                continue;
            }
            SourceFile file = workspace.read(found.get(0));
            for (int i = 0; i < file.lines().size(); i++) {
                String text = file.lines().get(i).strip();
                if (!text.isEmpty() && !text.startsWith("#")) {
                    values.add(text.replaceAll("\\s+#.*", ""));
                    file.entry(i + 1, i + 1, 1, text)
                            .note("the line is a value of " + line.entry().place());
                }
            }
        }
        return values;
    }
}
