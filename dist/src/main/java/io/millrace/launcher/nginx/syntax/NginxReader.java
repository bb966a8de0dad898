package io.millrace.launcher.nginx.syntax;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The reader of nginx configuration files and their included files. Builds a tree of directives. Confined to one
 * thread.
 */
public final class NginxReader {
    /** Limit of nested includes, as a guard against files that include themselves. */
    private static final int DEPTH_MAX = 32;

    /** Limit of included files in total. */
    private static final int FILES_MAX = 10_000;

    private final Workspace workspace;
    private final Path prefix;
    private final Map<String, Entry> entries = new HashMap<>();
    private int files;

    /**
     * Creates a reader.
     *
     * @param prefix base directory of relative paths
     */
    public NginxReader(Workspace workspace, Path prefix) {
        this.workspace = workspace;
        this.prefix = prefix;
    }

    /** Reads a file, and adds its directives to the children of {@code parent}. */
    public void read(Path path, Directive parent) {
        read(path, parent, 0);
    }

    private void read(Path path, Directive parent, int depth) {
        if (++files > FILES_MAX) {
            workspace.problems().add(path + ": more than " + FILES_MAX + " files are included");
            return;
        }
        new FileParser(new Tokens(workspace.read(path)), depth).readBlock(parent, false);
    }

    private final class FileParser {
        private final Tokens tokens;
        private final SourceFile file;
        private final int depth;

        FileParser(Tokens tokens, int depth) {
            this.tokens = tokens;
            this.file = tokens.file();
            this.depth = depth;
        }

        /** Reads directives up to the closing brace, or up to the end of the file. */
        void readBlock(Directive parent, boolean inner) {
            while (workspace.problems().isEmpty()) {
                Tokens.Token first = tokens.next();
                if (first == null) {
                    if (inner) {
                        tokens.problem("unexpected end of file, expecting '}'");
                    }
                    return;
                }
                if (first.isPunctuation("}")) {
                    file.markProcessed(first.line(), first.line());
                    if (!inner) {
                        tokens.problem(first, "unexpected '}'");
                    }
                    return;
                }
                if (first.punctuation()) {
                    tokens.problem(first, "unexpected '" + first.text() + "'");
                    return;
                }
                readDirective(parent, first);
            }
        }

        private void readDirective(Directive parent, Tokens.Token name) {
            List<String> words = new ArrayList<>();
            Tokens.Token last = name;
            Tokens.Token token = tokens.next();
            while (token != null && !token.punctuation()) {
                words.add(token.text());
                last = token;
                token = tokens.next();
            }
            if (token == null) {
                if (workspace.problems().isEmpty()) {
                    tokens.problem("unexpected end of file, expecting ';' or '}'");
                }
                return;
            }
            if (token.isPunctuation("}")) {
                tokens.problem(token, "unexpected '}', expecting ';' after '" + name.text() + "'");
                return;
            }
            boolean block = token.isPunctuation("{");
            // The content of these blocks does not consist of directives.
            boolean raw = block
                    && (name.text().endsWith("_by_lua_block") || name.text().equals("types"));
            int end = raw ? tokens.skipBlock() : token.line();
            if (raw && end < 0) {
                return;
            }
            String text = tokens.source(name.start(), raw ? tokens.position() : token.end());
            int until = Math.max(end, last.line());
            // If a file is included several times, its directives share one entry in the report for each line.
            Entry entry = entries.computeIfAbsent(
                    file.name() + ":" + name.line() + ":" + name.column(),
                    place -> file.entry(name.line(), until, name.column(), text));
            Directive directive = new Directive(name.text(), words, entry, block);
            parent.children().add(directive);
            if (name.text().equals("include") && !block) {
                include(parent, directive);
            } else if (block && !raw) {
                readBlock(directive, true);
            }
        }

        private void include(Directive parent, Directive include) {
            String pattern = include.arg(0);
            if (depth >= DEPTH_MAX) {
                file.problem(include.entry(), "includes are nested more than " + DEPTH_MAX + " levels deep");
                return;
            }
            List<Path> found = find(pattern);
            if (found.isEmpty()) {
                if (pattern.matches(".*[*?\\[].*")) {
                    include.note("no file matches the pattern");
                } else if (Path.of(pattern).endsWith("mime.types")) {
                    include.note("the file has media types of static files, which Millrace does not serve");
                } else {
                    include.notMapped("the file does not exist: its directives are missing here");
                }
                return;
            }
            include.note(found.size() == 1 ? "the file is in this report" : found.size() + " files are in this report");
            for (Path each : found) {
                NginxReader.this.read(each, parent, depth + 1);
            }
        }
    }

    /** Returns the files that match a pattern, in the order of their names. */
    private List<Path> find(String pattern) {
        for (String candidate : candidates(pattern)) {
            List<Path> found = glob(candidate);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /**
     * Returns the paths at which an included file may be. In a copy of the directory, patterns still contain the
     * original path, such as /etc/nginx.
     */
    private List<String> candidates(String pattern) {
        if (!pattern.startsWith("/")) {
            return List.of(prefix + "/" + pattern, workspace.base() + "/" + pattern);
        }
        for (String standardPrefix : List.of("/etc/nginx/", "/usr/local/nginx/conf/", "/usr/local/etc/nginx/")) {
            if (pattern.startsWith(standardPrefix)) {
                return List.of(workspace.base() + "/" + pattern.substring(standardPrefix.length()), pattern);
            }
        }
        return List.of(pattern);
    }

    private static List<Path> glob(String pattern) {
        int wildcardIndex = pattern.replaceAll("[*?\\[].*", "").length();
        if (wildcardIndex == pattern.length()) {
            Path path = Path.of(pattern);
            return Files.isRegularFile(path) ? List.of(path) : List.of();
        }
        List<Path> found = new ArrayList<>();
        List<Path> folders = new ArrayList<>();
        int slash = pattern.lastIndexOf('/');
        String folder = pattern.substring(0, Math.max(slash, 0));
        if (folder.matches(".*[*?\\[].*")) {
            folders.addAll(directories(folder));
        } else {
            folders.add(Path.of(folder.isEmpty() ? "/" : folder));
        }
        for (Path each : folders) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(each, pattern.substring(slash + 1))) {
                for (Path entry : entries) {
                    // A star at the beginning does not match a hidden file, as in glob(3).
                    String name = String.valueOf(entry.getFileName());
                    if (Files.isRegularFile(entry) && (!name.startsWith(".") || pattern.charAt(slash + 1) == '.')) {
                        found.add(entry);
                    }
                }
            } catch (IOException e) {
                // A missing directory has no files; nginx does not report it either.
            }
        }
        found.sort(null);
        return List.copyOf(found);
    }

    private static List<Path> directories(String pattern) {
        int slash = pattern.lastIndexOf('/');
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(
                Path.of(pattern.substring(0, Math.max(slash, 1))), pattern.substring(slash + 1))) {
            for (Path entry : entries) {
                if (Files.isDirectory(entry)) {
                    found.add(entry);
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        found.sort(null);
        return List.copyOf(found);
    }
}
