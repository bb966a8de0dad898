package io.millrace.launcher.importing;

import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import io.millrace.launcher.importing.source.Printable;
import io.millrace.launcher.importing.source.SourceFile;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.ConfigProblem.Severity;
import io.millrace.proxy.config.yaml.ConfigLoader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The state of an import from another proxy: source files, problems, warnings, and the resulting configuration.
 * Confined to one thread.
 */
public final class Workspace {
    /** Limit of a file's length in bytes; configurations of other proxies are far shorter. */
    private static final long LENGTH_MAX = 64 << 20;

    /** Limit of validation rounds. Each round removes every element that the validator refuses. */
    private static final int ROUNDS_MAX = 50;

    private final String proxy;
    private final String command;
    private final Path base;
    private final Map<Path, SourceFile> files = new LinkedHashMap<>();
    private final List<String> problems = new ArrayList<>();
    private final Set<String> warnings = new LinkedHashSet<>();
    private final Draft draft = new Draft();

    /**
     * @param proxy name of the other proxy in messages
     * @param command the command that imports, such as {@code millctl import nginx}
     * @param base directory to which names of files in the report are relative
     */
    public Workspace(String proxy, String command, Path base) {
        this.proxy = proxy;
        this.command = command;
        this.base = base;
    }

    /** Returns the result of an import that could not read anything. */
    public static ImportResult failure(String problem) {
        return new ImportResult(null, List.of(), List.of(problem), List.of(), List.of());
    }

    /** Directory to which names in the report are relative. */
    public Path base() {
        return base;
    }

    /** The configuration that the import builds. */
    public Draft draft() {
        return draft;
    }

    /** Errors that prevent the import, one line each. With an error, there is no resulting configuration. */
    public List<String> problems() {
        return problems;
    }

    /** Adds a warning that belongs to no line; a repeated warning is kept once. */
    public void warn(String warning) {
        warnings.add(warning);
    }

    /** Returns true if the file was read before. */
    public boolean isRead(Path path) {
        return files.containsKey(path.toAbsolutePath().normalize());
    }

    /**
     * Reads a file, or returns it if it was read before. Reports a file that cannot be read, and returns it without
     * lines.
     */
    public SourceFile read(Path path) {
        Path key = path.toAbsolutePath().normalize();
        SourceFile file = files.get(key);
        if (file == null) {
            Path root = base.toAbsolutePath().normalize();
            String name = key.startsWith(root) && !key.equals(root)
                    ? root.relativize(key).toString()
                    : key.toString();
            file = new SourceFile(path, name, textOf(path), problems);
            files.put(key, file);
        }
        return file;
    }

    private String textOf(Path path) {
        try {
            if (Files.isDirectory(path)) {
                problems.add(path + ": is a directory");
            } else if (Files.size(path) > LENGTH_MAX) {
                problems.add(path + ": is longer than the limit of 64 MiB");
            } else {
                return decode(path);
            }
        } catch (IOException e) {
            problems.add(path + ": cannot be read (" + e.getMessage() + ")");
        }
        return "";
    }

    /** Decodes a file as UTF-8; if it is not UTF-8, as Latin-1. Old files may have comments in Latin-1. */
    private static String decode(Path path) throws IOException {
        byte[] bytes = Files.readAllBytes(path);
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return text.startsWith("\ufeff") ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }

    /**
     * Removes the parts that the validator refuses, and returns the result.
     *
     * @throws IllegalStateException if the validator still refuses the configuration, which is a bug of the importer
     */
    public ImportResult finish() {
        files.values().forEach(SourceFile::addUnprocessedLines);
        List<String> names = files.values().stream().map(SourceFile::name).toList();
        if (problems.isEmpty()) {
            removeRefusedParts();
        }
        if (!problems.isEmpty()) {
            return new ImportResult(null, lines(), List.copyOf(problems), List.of(), names);
        }
        draft.recordKeys();
        List<ImportedLine> lines = lines();
        String text = text(lines);
        List<String> all = new ArrayList<>(warnings);
        for (ConfigProblem problem : check(text)) {
            if (problem.severity() == Severity.ERROR) {
                throw new IllegalStateException("the validator refuses the imported configuration: " + problem.text());
            }
            all.add(problem.text());
        }
        return new ImportResult(text, lines, List.of(), List.copyOf(all), names);
    }

    private List<ImportedLine> lines() {
        List<ImportedLine> lines = new ArrayList<>();
        files.values().forEach(file -> file.entries().forEach(entry -> lines.add(entry.finish())));
        return lines;
    }

    private List<ConfigProblem> check(String text) {
        return ConfigLoader.parse(text, "millrace.yaml", base.toAbsolutePath(), Map.of())
                .problems();
    }

    private void removeRefusedParts() {
        for (int round = 0; round < ROUNDS_MAX; round++) {
            if (draft.elements("listen").isEmpty()) {
                DraftNode address = draft.root().addElement("listen");
                address.put("address", ":8080");
                address.remark("No listening address was imported.");
            }
            List<ConfigProblem> errors = check(draft.text(List.of(), List.of())).stream()
                    .filter(problem -> problem.severity() == Severity.ERROR)
                    .toList();
            if (errors.isEmpty()) {
                return;
            }
            refuse(errors);
        }
        throw new IllegalStateException("the validator still refuses something after " + ROUNDS_MAX + " rounds");
    }

    /**
     * Removes refused parts. Changes a refused rule with filters to a rule that denies all clients: without the rule, a
     * wider rule could admit clients that the filters deny.
     */
    private void refuse(List<ConfigProblem> errors) {
        List<Draft.Part> parts = new ArrayList<>();
        for (ConfigProblem error : errors) {
            Draft.Part part = draft.find(error.path());
            if (part == null) {
                throw new IllegalStateException("the import has no element to remove for the error: " + error.text());
            }
            boolean isFilterError = error.path().startsWith("access.filters");
            DraftNode status = part.node().find("answer.status");
            if (status != null && String.valueOf(status.text()).matches("[45]\\d\\d")) {
                part.node().sources().stream()
                        .findFirst()
                        .ifPresent(
                                source -> warn("requests that a line refuses are not refused: see " + source.place()));
            }
            for (Entry source : part.node().allSources()) {
                source.notMapped(error.message());
                if (isFilterError) {
                    // This is an error, because all clients would have access without the filter.
                    problems.add(base.resolve(source.file()) + ":" + source.line() + ":" + source.column() + ": "
                            + error.message());
                }
            }
            if (part.node().isElement() && part.node().field("filters") != null && !isFilterError) {
                if (part.node().denyAllClients(error.path())) {
                    part.node()
                            .sources()
                            .forEach(source -> source.notMapped("requests that its filters match are denied instead"));
                    continue;
                }
                part.node()
                        .sources()
                        .forEach(source -> source.notMapped("its filters are dropped too: its requests may now match a"
                                + " wider rule without filters"));
            }
            parts.add(part);
        }
        parts.forEach(Draft.Part::remove);
    }

    private String text(List<ImportedLine> lines) {
        List<String> head = new ArrayList<>();
        head.add("Imported from " + proxy + " by " + command + ". The comment after a key names its source. Files:");
        head.add(String.valueOf(base));
        head.addAll(warnings);
        List<String> tail = new ArrayList<>();
        for (ImportedLine line : lines) {
            if (line.outcome() == Outcome.NOT_MAPPED) {
                tail.add(line.place() + "  " + Printable.cut(line.text(), 160) + "  -> " + line.note());
            }
        }
        if (!tail.isEmpty()) {
            head.add(tail.size()
                    + (tail.size() == 1
                            ? " line has no equivalent or only a partial one; it is listed at the end."
                            : " lines have no equivalent or only a partial one; they are listed at the end."));
            tail.add(0, "Not mapped, or mapped only in part:");
        }
        return draft.text(head, tail);
    }
}
