package io.millrace.launcher.ats.draft;

import io.millrace.launcher.ats.source.Records;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The state of an import from Traffic Server: source files, problems and resulting configuration.
 *
 * <p>Confined to one thread.
 */
public final class ImportState {
    /** Files that versions after 10 introduced and that are not imported. */
    public static final List<String> AFTER_VERSION_10 = List.of(
            "cache.yaml",
            "cache_override.yaml",
            "certificates.yaml",
            "parent.yaml",
            "splitdns.yaml",
            "virtualhost.yaml",
            "volume.yaml");

    private static final long LENGTH_MAX = 64 << 20;

    private final Path directory;
    private final Path prefix;
    private final Map<String, SourceFile> files = new LinkedHashMap<>();
    private final List<String> problems = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final Draft draft = new Draft();
    private final Records records = new Records();

    /** @param prefix base of relative paths of Traffic Server; null to derive it from the location of the directory */
    public ImportState(Path directory, @Nullable Path prefix) {
        this.directory = directory;
        this.prefix = prefix == null ? usualPrefix(directory.toAbsolutePath().normalize()) : prefix;
    }

    /**
     * Returns the installation prefix, for a configuration directory {@code PREFIX/etc/trafficserver}; else the
     * directory itself.
     */
    private static Path usualPrefix(Path directory) {
        Path etc = directory.getParent();
        Path above = etc == null ? null : etc.getParent();
        boolean usual = directory.endsWith(Path.of("etc", "trafficserver")) && above != null;
        return usual && above != null ? above : directory;
    }

    /** The imported directory. */
    public Path directory() {
        return directory;
    }

    /** The configuration that the import builds. */
    public Draft draft() {
        return draft;
    }

    /** The records that records.config or records.yaml sets. */
    public Records records() {
        return records;
    }

    /** Problems of files, one line each. */
    public List<String> problems() {
        return problems;
    }

    /** Reports an error in the source, which Traffic Server would also report. The import fails then. */
    public void problem(Entry entry, String message) {
        problems.add(directory.resolve(entry.file()) + ":" + entry.line() + ":" + entry.column() + ": " + message);
    }

    /** Warnings that belong to no line. */
    public List<String> warnings() {
        return warnings;
    }

    /** The files read so far, by name. */
    public Map<String, SourceFile> files() {
        return files;
    }

    /** Resolves a path relative to the installation prefix of Traffic Server. */
    public String resolveInInstallPrefix(String path) {
        return prefix.toAbsolutePath().normalize().resolve(path).normalize().toString();
    }

    /** Resolves a path relative to the configuration directory. */
    public String resolveInConfigDirectory(String path) {
        return directory.toAbsolutePath().normalize().resolve(path).normalize().toString();
    }

    /** Returns true if the directory contains a file that only versions after 10 read. */
    public boolean isAfterVersion10() {
        return Stream.concat(AFTER_VERSION_10.stream(), Stream.of("storage.yaml", "remap.yaml", "ssl_multicert.yaml"))
                .anyMatch(this::has);
    }

    /** Returns true if the directory contains a file with this name. */
    public boolean has(String name) {
        return Files.isRegularFile(directory.resolve(name));
    }

    /**
     * Returns the name of a file that a record can set. Reports a problem if the file of a set name does not exist.
     *
     * @param record the record with the name, without {@code proxy.config.}
     * @param usual the name if the record is not set; its file need not exist
     */
    public String fileNameOf(String record, String usual) {
        Records.Rec rec = records.getAndMarkProcessed(record);
        if (rec == null || rec.value() == null) {
            return usual;
        }
        String name = relative(rec.value());
        rec.entry().note("the importer reads the file of this name");
        if (!name.equals(usual) && !Files.exists(directory.resolve(name))) {
            problem(rec.entry(), rec.value() + ": no such file");
        }
        return name;
    }

    /** Returns a file's path relative to the configuration directory. Leaves a relative path unchanged. */
    public String relative(String name) {
        Path path = Path.of(name);
        return path.isAbsolute()
                ? directory
                        .toAbsolutePath()
                        .normalize()
                        .relativize(path.normalize())
                        .toString()
                : name;
    }

    /** Returns true if a subdirectory with this name exists. */
    public boolean isDirectory(String name) {
        return Files.isDirectory(directory.resolve(name));
    }

    /** Returns the files of a subdirectory, sorted by name, without its own subdirectories. */
    public List<String> list(String name) {
        try (Stream<Path> files = Files.list(directory.resolve(name))) {
            return files.filter(Files::isRegularFile)
                    .map(file -> Path.of(name).resolve(file.getFileName()).toString())
                    .sorted()
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            problems.add(directory.resolve(name) + ": cannot be read (" + e.getMessage() + ")");
            return List.of();
        }
    }

    /** Reads a file. Returns null if the file does not exist, without reporting a problem. */
    @Nullable
    public SourceFile read(String name) {
        Path path = directory.resolve(name);
        if (!Files.exists(path)) {
            return null;
        }
        SourceFile existing = files.get(name);
        if (existing != null) {
            return existing;
        }
        SourceFile file = new SourceFile(path, name, readText(path), problems);
        files.put(name, file);
        return file;
    }

    private String readText(Path path) {
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
            // Some editors write a byte order mark, which does not belong to the text.
            return text.startsWith("\ufeff") ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }

    /** Marks each line of a file as not mapped. For files that Traffic Server reads but the importer does not. */
    public void markNotMapped(String file, String why) {
        entriesOf(file).forEach(entry -> entry.notMapped(why));
    }

    /** Adds a note to each line of a file. For files that Traffic Server itself does not use. */
    public void noteEachLine(String file, String why) {
        entriesOf(file).forEach(entry -> entry.note(why));
    }

    /** Returns an entry for each line that is neither blank nor a comment. */
    private List<Entry> entriesOf(String file) {
        List<Entry> entries = new ArrayList<>();
        SourceFile source = read(file);
        for (int i = 0; source != null && i < source.lines().size(); i++) {
            String text = source.lines().get(i).strip();
            if (!text.isEmpty() && !text.startsWith("#")) {
                entries.add(source.entry(i + 1, i + 1, 1, text));
            }
        }
        return entries;
    }
}
