package io.millrace.launcher.config;

import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.worker.control.ConfigSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * An entry of the configuration history, stored in a JSON file. Immutable.
 *
 * @param number number of the entry; later entries have higher numbers
 * @param at time of the change, ISO 8601, UTC
 * @param by command that applied the configuration
 * @param changed keys that were changed
 * @param source texts of the configuration
 */
record HistoryEntry(int number, String at, String by, List<String> changed, ConfigSource source) {
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final String TEXT = "text";
    private static final Set<StandardOpenOption> NEW =
            EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

    /** Writes a new file that only this user can read, and forces it to disk. */
    void write(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(
                        file, NEW, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
                OutputStream out = Channels.newOutputStream(channel);
                JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
            write(json);
            json.flush();
            channel.force(true);
        } catch (JacksonException e) {
            throw new IOException(file + ": " + e.getOriginalMessage(), e);
        }
    }

    private void write(JsonGenerator json) {
        ConfigDocument document = source.document();
        json.writeStartObject();
        json.writeNumberProperty("number", number);
        json.writeStringProperty("at", at);
        json.writeStringProperty("by", by);
        json.writeArrayPropertyStart("changed");
        changed.forEach(json::writeString);
        json.writeEndArray();
        json.writeStringProperty("name", document.name());
        json.writeStringProperty("directory", document.directory().toString());
        writeMap(json, "set", source.overrides());
        writeMap(json, "overlay", source.overlay());
        // The text is one of the last properties, so that readHead can stop before it.
        json.writeStringProperty(TEXT, document.text());
        writeMap(json, "included", document.included());
        json.writeEndObject();
    }

    private static void writeMap(JsonGenerator json, String name, Map<String, String> map) {
        json.writeObjectPropertyStart(name);
        map.forEach(json::writeStringProperty);
        json.writeEndObject();
    }

    /** Reads a file written by {@link #write}. */
    static HistoryEntry read(Path file) throws IOException {
        return read(file, true);
    }

    /** Reads an entry without the configuration text, for lists of entries. */
    static HistoryEntry readHead(Path file) throws IOException {
        return read(file, false);
    }

    private static HistoryEntry read(Path file, boolean whole) throws IOException {
        Map<String, String> scalars = new LinkedHashMap<>();
        Map<String, Map<String, String>> maps = new LinkedHashMap<>();
        List<String> changed = new ArrayList<>();
        try (InputStream in = Files.newInputStream(file);
                JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), in)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = String.valueOf(parser.currentName());
                if (!whole && name.equals(TEXT)) {
                    scalars.put(TEXT, "");
                    break;
                }
                JsonToken token = parser.nextToken();
                if (token == JsonToken.START_ARRAY) {
                    while (parser.nextToken() != JsonToken.END_ARRAY) {
                        changed.add(parser.getString());
                    }
                } else if (token == JsonToken.START_OBJECT) {
                    Map<String, String> values = new LinkedHashMap<>();
                    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                        String key = String.valueOf(parser.currentName());
                        parser.nextToken();
                        values.put(key, parser.getString());
                    }
                    maps.put(name, values);
                } else {
                    scalars.put(name, parser.getString());
                }
            }
        } catch (JacksonException e) {
            throw new IOException(file + " is damaged: " + e.getOriginalMessage(), e);
        }
        return entry(file, scalars, maps, changed);
    }

    private static HistoryEntry entry(
            Path file, Map<String, String> scalars, Map<String, Map<String, String>> maps, List<String> changed)
            throws IOException {
        for (String name : List.of("number", "at", "by", "name", "directory", "text")) {
            if (scalars.get(name) == null) {
                throw new IOException(file + " is damaged: it has no " + name);
            }
        }
        try {
            ConfigDocument document = new ConfigDocument(
                    word(scalars, "name"),
                    Path.of(word(scalars, "directory")),
                    word(scalars, "text"),
                    maps.getOrDefault("included", Map.of()));
            ConfigSource source = new ConfigSource(
                    document, maps.getOrDefault("set", Map.of()), maps.getOrDefault("overlay", Map.of()));
            return new HistoryEntry(
                    Integer.parseInt(word(scalars, "number")),
                    word(scalars, "at"),
                    word(scalars, "by"),
                    changed,
                    source);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + " is damaged: " + e.getMessage(), e);
        }
    }

    private static String word(Map<String, String> scalars, String name) {
        return scalars.getOrDefault(name, "");
    }
}
