package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

final class ConfigSchemaTest {
    @Test
    void isWellFormedAndNamesEveryKey() {
        Set<String> names = new HashSet<>();
        try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), ConfigSchema.json())) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.PROPERTY_NAME) {
                    names.add(parser.currentName());
                }
            }
        }
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            assertTrue(names.contains(key.name()), key.path());
        }
    }

    @Test
    void refusesUnknownKeysEverywhere() {
        String json = ConfigSchema.json();
        int properties = json.split("\"properties\":", -1).length;
        int closed = json.split("\"additionalProperties\":false", -1).length;
        assertEquals(properties, closed);
    }
}
