package io.millrace.launcher.ats.draft;

import io.millrace.launcher.ats.source.Entry;
import io.millrace.launcher.ats.source.Records;
import io.millrace.launcher.ats.source.SourceFile;
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

/** The directory that is imported: its files, what is wrong in them, and what has been made of them so far. Confined to one thread. */
public final class Input {
    /** Files that versions after 10 brought, and that are not read. */
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

    /** @param prefix where relative paths of Traffic Server start; null takes what the directory's place says */
    public Input(Path directory, @Nullable Path prefix) {
        this.directory = directory;
        this.prefix = prefix == null ? usualPrefix(directory.toAbsolutePath().normalize()) : prefix;
    }

    /** Traffic Server is configured in {@code PREFIX/etc/trafficserver}. */
    private static Path usualPrefix(Path directory) {
        Path etc = directory.getParent();
        Path above = etc == null ? null : etc.getParent();
        boolean usual = directory.endsWith(Path.of("etc", "trafficserver")) && above != null;
        return usual && above != null ? above : directory;
    }

    /** The directory that is imported. */
    public Path directory() {
        return directory;
    }

    /** The configuration that is being written. */
    public Draft draft() {
        return draft;
    }

    /** The records that were set. */
    public Records records() {
        return records;
    }

    /** Problems of files, one line each. */
    public List<String> problems() {
        return problems;
    }

    /** What Traffic Server itself would refuse, of a line that was read. */
    public void problem(Entry entry, String message) {
        problems.add(directory.resolve(entry.file()) + ":" + entry.line() + ":" + entry.column() + ": " + message);
    }

    /** What has no line that says it. */
    public List<String> warnings() {
        return warnings;
    }

    /** Files read so far, by name. */
    public Map<String, SourceFile> files() {
        return files;
    }

    /** A path that is relative to where Traffic Server is installed. */
    public String installed(String path) {
        return prefix.toAbsolutePath().normalize().resolve(path).normalize().toString();
    }

    /** A path that is relative to the configuration directory. */
    public String configured(String path) {
        return directory.toAbsolutePath().normalize().resolve(path).normalize().toString();
    }

    /** Whether the directory shows that it is of a version after 10. */
    public boolean isAfterVersion10() {
        return Stream.concat(AFTER_VERSION_10.stream(), Stream.of("storage.yaml", "remap.yaml", "ssl_multicert.yaml"))
                .anyMatch(this::has);
    }

    /** Whether the directory has a file of that name. */
    public boolean has(String name) {
        return Files.isRegularFile(directory.resolve(name));
    }

    /** The name of a file that a record may give another name, by which it must be there. */
    public String named(String record, String usual) {
        Records.Rec rec = records.take(record);
        if (rec == null || rec.value() == null) {
            return usual;
        }
        String name = relative(rec.value());
        rec.entry().note("the named file was read");
        if (!name.equals(usual) && !Files.exists(directory.resolve(name))) {
            problem(rec.entry(), rec.value() + ": no such file");
        }
        return name;
    }

    /** The path of a file that another one names, from this directory on. */
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

    /** Whether the name is that of a directory. */
    public boolean isDirectory(String name) {
        return Files.isDirectory(directory.resolve(name));
    }

    /** The files of a directory below this one, in the order of their names; of none within it. */
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

    /** The file of that name; null when there is none, which is no error. */
    @Nullable
    public SourceFile read(String name) {
        Path path = directory.resolve(name);
        if (!Files.exists(path)) {
            return null;
        }
        SourceFile known = files.get(name);
        if (known != null) {
            return known;
        }
        SourceFile file = new SourceFile(path, name, textOf(path), problems);
        files.put(name, file);
        return file;
    }

    private String textOf(Path path) {
        try {
            if (Files.isDirectory(path)) {
                problems.add(path + ": is a directory");
            } else if (Files.size(path) > LENGTH_MAX) {
                problems.add(path + ": is longer than the limit of 64 MiB");
            } else {
                return decoded(path);
            }
        } catch (IOException e) {
            problems.add(path + ": cannot be read (" + e.getMessage() + ")");
        }
        return "";
    }

    /** Files of old have comments in Latin-1, which Traffic Server never looked at. */
    private static String decoded(Path path) throws IOException {
        byte[] bytes = Files.readAllBytes(path);
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            // Some editors begin a file with a mark that is none of its text.
            return text.startsWith("\ufeff") ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }

    /** Reports a file that is known and not imported, a line for each of its own. */
    public void name(String file, String why) {
        each(file).forEach(entry -> entry.notMapped(why));
    }

    /** Reports a file whose lines have no effect, where Traffic Server does not look at them either. */
    public void pass(String file, String why) {
        each(file).forEach(entry -> entry.note(why));
    }

    private List<Entry> each(String file) {
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
