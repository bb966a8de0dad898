package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.value.Units;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** Reads the configuration file and the files that its key {@code include} lists. Confined to one thread. */
final class ConfigIncludes {
    /** Limit of files that one configuration may include, since each is opened at every reload. */
    static final int FILES_MAX = 1000;

    /** The lists that an included file may contain. Their elements are appended to those of the including file. */
    static final List<ConfigKey<List<ConfigValues>>> INCLUDABLE = List.of(
            ConfigKeys.REMAP,
            OriginGroupKeys.ORIGINS,
            FilterKeys.FILTERS,
            RuleKeys.RULES,
            RequestLimitKeys.LIMITS,
            CacheRulesKeys.CACHE_RULES);

    private static final String GLOB = "*?[{";
    private static final String DIRECTORY_GLOB = "*.{yaml,yml}";

    private final ConfigProblems problems;
    /** Bytes of all files that were read so far. */
    private long bytesRead;

    ConfigIncludes(ConfigProblems problems) {
        this.problems = problems;
    }

    /** Returns the text of a file. Returns null if it could not be read, after reporting the problem. */
    @Nullable
    String read(Path file, String name) {
        Place place = new Place(name, 0, 0);
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            if (!attributes.isRegularFile()) {
                // Reading a pipe would block, and a device may have no end.
                String kind = attributes.isDirectory() ? "a directory" : "a pipe, a socket or a device";
                problems.error(place, "", "is " + kind);
                return null;
            }
            // The size is checked before reading, so that a large file named by mistake uses no memory.
            if (reportIfTooLong(attributes.size(), place)) {
                return null;
            }
            byte[] bytes = readAtMost(file, ConfigDocument.LENGTH_MAX - (int) bytesRead + 1);
            if (reportIfTooLong(bytes.length, place)) {
                return null;
            }
            bytesRead += bytes.length;
            return decode(bytes, name);
        } catch (NoSuchFileException e) {
            problems.error(place, "", "no such file");
        } catch (AccessDeniedException e) {
            problems.error(place, "", "permission denied");
        } catch (IOException e) {
            problems.error(place, "", "cannot be read: " + e.getMessage());
        }
        return null;
    }

    /**
     * Reads at most {@code lengthMax} bytes. Some files, such as those in /proc, report the size 0 although they have
     * content.
     */
    private static byte[] readAtMost(Path file, int lengthMax) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(lengthMax);
        }
    }

    /** Reports an error and returns true if {@code more} bytes exceed the limit of all files together. */
    private boolean reportIfTooLong(long more, Place place) {
        if (bytesRead + more <= ConfigDocument.LENGTH_MAX) {
            return false;
        }
        problems.error(
                place,
                "",
                "is too long: actual=" + (bytesRead + more) + " bytes, limit="
                        + Units.formatSize(ConfigDocument.LENGTH_MAX)
                        + ", for the file and its included files together");
        return true;
    }

    private @Nullable String decode(byte[] bytes, String name) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(in).toString();
        } catch (CharacterCodingException e) {
            String before = new String(bytes, 0, in.position(), StandardCharsets.UTF_8);
            int length = before.codePointCount(0, before.length());
            problems.error(YamlText.placeOf(before, name, length), "", "is not UTF-8 from here on");
            return null;
        }
    }

    /**
     * Returns the texts of the files that match the patterns, in the order of the patterns; the files of one pattern
     * are sorted by name. A file that matches several times, or has several names, is read at the first match.
     *
     * @param name name of the including file
     * @param directory base of relative patterns
     */
    Map<String, String> included(List<String> patterns, String name, Path directory) {
        String key = FileKeys.INCLUDE.path();
        Place place = problems.placeOf(key, new Place(name, 0, 0));
        Map<String, String> texts = new LinkedHashMap<>();
        Map<Object, String> names = new HashMap<>();
        Object ownIdentity = identity(Path.of(name));
        for (String pattern : patterns) {
            for (Path file : matching(pattern, directory, place)) {
                // The shown name is relative if the operator gave a relative name for the including file.
                String shown = Path.of(pattern).isAbsolute() ? file.toString() : shown(file, name, directory);
                Object identity = identity(file);
                String first = identity == null ? null : names.putIfAbsent(identity, shown);
                if (shown.equals(name) || (identity != null && identity.equals(ownIdentity))) {
                    String alias = shown.equals(name) ? "" : ", by the name " + shown;
                    problems.error(place, key, pattern + " includes " + name + " itself" + alias);
                } else if (first != null) {
                    if (!first.equals(shown)) {
                        problems.warning(
                                place, key, shown + " is " + first + " by another name; the file is read once");
                    }
                } else if (texts.size() == FILES_MAX) {
                    problems.error(place, key, pattern + " exceeds the limit of " + FILES_MAX + " files");
                    return texts;
                } else if (!texts.containsKey(shown)) {
                    String text = read(file, shown);
                    if (text != null) {
                        texts.put(shown, text);
                    }
                }
            }
        }
        return texts;
    }

    /**
     * Returns an object that is equal for all names of the same file, such as its inode. Returns null if the file
     * cannot be accessed; the later attempt to read the file reports the problem.
     */
    private static @Nullable Object identity(Path file) {
        try {
            Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            return key == null ? file.toRealPath() : key;
        } catch (IOException e) {
            return null;
        }
    }

    private static String shown(Path file, String name, Path directory) {
        Path relative = directory.toAbsolutePath().normalize().relativize(file);
        return Path.of(name).resolveSibling(relative).normalize().toString();
    }

    private List<Path> matching(String pattern, Path directory, Place place) {
        String key = FileKeys.INCLUDE.path();
        try {
            Path file = directory.toAbsolutePath().resolve(pattern).normalize();
            Path last = file.getFileName();
            Path parent = file.getParent();
            if (last == null || parent == null || isGlob(parent.toString())) {
                problems.error(
                        place,
                        key,
                        "'" + pattern + "' has a pattern in a directory name; only the file name can be a pattern");
            } else if (isGlob(last.toString())) {
                return listed(parent, last.toString());
            } else if (Files.isDirectory(file)) {
                return listed(file, DIRECTORY_GLOB);
            } else {
                return List.of(file);
            }
        } catch (InvalidPathException | PatternSyntaxException e) {
            problems.error(place, key, "'" + pattern + "' is not a path or pattern");
        } catch (NoSuchFileException | NotDirectoryException e) {
            problems.error(place, key, e.getMessage() + ": no such directory");
        } catch (AccessDeniedException e) {
            problems.error(place, key, e.getMessage() + ": permission denied");
        } catch (IOException | DirectoryIteratorException e) {
            problems.error(place, key, pattern + " cannot be listed: " + e.getMessage());
        }
        return List.of();
    }

    private static List<Path> listed(Path directory, String glob) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, glob)) {
            for (Path entry : entries) {
                Path name = entry.getFileName();
                boolean hidden = name != null && name.toString().startsWith(".");
                if (!hidden && !Files.isDirectory(entry)) {
                    files.add(entry);
                }
            }
        }
        files.sort((one, other) -> one.toString().compareTo(other.toString()));
        return files;
    }

    private static boolean isGlob(String text) {
        return text.chars().anyMatch(c -> GLOB.indexOf(c) >= 0);
    }
}
