package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.value.RemapVerb;
import java.io.StringWriter;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes the configuration keys as a JSON Schema (draft 2020-12), for editors that validate YAML. The schema accepts
 * everything that the loader accepts. It does not check the bounds of sizes and durations, since a schema cannot
 * compare them.
 */
public final class ConfigSchema {
    private static final String VARIABLE = "\\$\\{";
    private static final String SIZE = "^\\d+(\\.\\d+)?\\s*(B|[KMGT]iB|[kKMGT]B|[KMGT])$|^0$|" + VARIABLE;
    private static final String DURATION = "^(\\d+(\\.\\d+)?\\s*(ns|us|ms|s|m|min|h|d|w)\\s*)+$|^0$|" + VARIABLE;

    private final JsonGenerator json;

    private ConfigSchema(JsonGenerator json) {
        this.json = json;
    }

    /** Returns the schema as JSON text. */
    public static String json() {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), text)) {
            new ConfigSchema(json).write();
        }
        return text.toString();
    }

    private void write() {
        json.writeStartObject();
        json.writeStringProperty("$schema", "https://json-schema.org/draft/2020-12/schema");
        json.writeStringProperty("title", "millrace.yaml");
        json.writeName("$defs");
        json.writeStartObject();
        definition("variable", VARIABLE);
        definition("size", SIZE);
        definition("duration", DURATION);
        json.writeEndObject();
        section(ConfigShape.root(), false);
        json.writeEndObject();
    }

    private void definition(String name, String pattern) {
        json.writeName(name);
        json.writeStartObject();
        json.writeStringProperty("type", "string");
        json.writeStringProperty("pattern", pattern);
        json.writeEndObject();
    }

    /** Writes the schema of a section as members of the open JSON object. */
    private void section(ConfigShape shape, boolean mayBeEmpty) {
        json.writeName("type");
        if (mayBeEmpty) {
            words(List.of("object", "null"));
        } else {
            json.writeString("object");
        }
        json.writeName("properties");
        json.writeStartObject();
        for (String name : shape.names()) {
            json.writeName(name);
            json.writeStartObject();
            ConfigKey<?> key = shape.key(name);
            ConfigShape section = shape.section(name);
            if (key != null && section != null) {
                sectionOrList(section, key);
            } else if (key != null) {
                json.writeStringProperty("description", key.description());
                value(key);
            } else if (section != null) {
                section(section, true);
            }
            json.writeEndObject();
        }
        json.writeEndObject();
        json.writeBooleanProperty("additionalProperties", false);
        List<String> required = shape.keys().stream()
                .filter(ConfigKey::isRequired)
                .map(ConfigKey::name)
                .toList();
        if (!required.isEmpty()) {
            json.writeName("required");
            words(required);
        }
        if (shape == ConfigShape.element(ConfigKeys.REMAP)) {
            requireOneVerb();
        }
    }

    /** Accepts a section, or a list under the same name. */
    private void sectionOrList(ConfigShape section, ConfigKey<?> list) {
        json.writeName("anyOf");
        json.writeStartArray();
        json.writeStartObject();
        section(section, true);
        json.writeEndObject();
        json.writeStartObject();
        json.writeStringProperty("description", list.description());
        value(list);
        json.writeEndObject();
        json.writeEndArray();
    }

    /** Requires exactly one of the keys that determine the kind of a rule. */
    private void requireOneVerb() {
        json.writeName("oneOf");
        json.writeStartArray();
        for (RemapVerb verb : RemapVerb.all()) {
            json.writeStartObject();
            json.writeName("required");
            words(List.of(verb.word()));
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void value(ConfigKey<?> key) {
        switch (key.type().name()) {
            case "list" -> list(key);
            case "size", "duration" -> {
                json.writeName("anyOf");
                json.writeStartArray();
                alternative("$ref", "#/$defs/" + key.type().name());
                json.writeStartObject();
                json.writeNumberProperty("const", 0);
                json.writeEndObject();
                json.writeEndArray();
            }
            case "section of fields" -> fieldLines();
            case "section" -> json.writeStringProperty("type", "object");
            case "names", "extension names", "field names", "expressions", "addresses", "source addresses" ->
                words("string");
            case "status codes" -> words("integer");
            case "integer", "number" -> {
                json.writeName("anyOf");
                json.writeStartArray();
                number(key);
                alternative("$ref", "#/$defs/variable");
                json.writeEndArray();
            }
            case "boolean" -> {
                json.writeName("anyOf");
                json.writeStartArray();
                alternative("type", "boolean");
                choices(List.of("true", "false"), 2);
                alternative("$ref", "#/$defs/variable");
                json.writeEndArray();
            }
            case "word" -> {
                List<String> words = key.type().words();
                json.writeName("anyOf");
                json.writeStartArray();
                choices(words == null ? List.of() : words, key.type().isNumbered() && words != null ? words.size() : 0);
                alternative("$ref", "#/$defs/variable");
                json.writeEndArray();
            }
            default -> json.writeStringProperty("type", "string");
        }
    }

    /** Accepts a list of words, or one text with commas. */
    private void words(String type) {
        json.writeName("anyOf");
        json.writeStartArray();
        alternative("type", "string");
        json.writeStartObject();
        json.writeStringProperty("type", "array");
        json.writeName("items");
        json.writeStartObject();
        json.writeStringProperty("type", type);
        json.writeEndObject();
        json.writeEndObject();
        json.writeEndArray();
    }

    /** Accepts a section whose values are scalars or lists, or one text. */
    private void fieldLines() {
        json.writeName("anyOf");
        json.writeStartArray();
        alternative("type", "string");
        json.writeStartObject();
        json.writeStringProperty("type", "object");
        json.writeName("additionalProperties");
        json.writeStartObject();
        json.writeName("type");
        words(List.of("string", "number", "boolean", "array"));
        json.writeEndObject();
        json.writeEndObject();
        json.writeEndArray();
    }

    private void list(ConfigKey<?> key) {
        ConfigShape element = ConfigShape.element(key);
        boolean words = ConfigShape.keyOfWord(key) != null;
        json.writeName("type");
        words(words ? List.of("array", "null", "string") : List.of("array", "null"));
        json.writeName("items");
        json.writeStartObject();
        if (words) {
            json.writeName("anyOf");
            json.writeStartArray();
            alternative("type", "string");
            json.writeStartObject();
            section(element, false);
            json.writeEndObject();
            json.writeEndArray();
        } else {
            section(element, false);
        }
        json.writeEndObject();
    }

    private void number(ConfigKey<?> key) {
        json.writeStartObject();
        json.writeStringProperty("type", key.type().name());
        if (key.min() instanceof Number least && key.max() instanceof Number most) {
            if (key.type().name().equals("integer")) {
                json.writeNumberProperty("minimum", least.longValue());
                json.writeNumberProperty("maximum", most.longValue());
            } else {
                json.writeNumberProperty("minimum", least.doubleValue());
                json.writeNumberProperty("maximum", most.doubleValue());
            }
        }
        json.writeEndObject();
    }

    /** Accepts the words of an enumeration. The first words can also be written as numbers from 0. */
    private void choices(List<String> words, int numbers) {
        json.writeStartObject();
        json.writeName("enum");
        json.writeStartArray();
        words.forEach(json::writeString);
        for (int i = 0; i < numbers; i++) {
            json.writeNumber(i);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void alternative(String name, String value) {
        json.writeStartObject();
        json.writeStringProperty(name, value);
        json.writeEndObject();
    }

    private void words(List<String> words) {
        json.writeStartArray();
        words.forEach(json::writeString);
        json.writeEndArray();
    }
}
