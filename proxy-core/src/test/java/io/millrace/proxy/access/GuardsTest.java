package io.millrace.proxy.access;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.guard.AuthorizeKeys;
import io.millrace.proxy.config.guard.PasswordKeys;
import io.millrace.proxy.config.guard.SignedUrlKeys;
import io.millrace.proxy.config.guard.TokenKeys;
import io.millrace.proxy.config.key.ConfigKey;
import java.lang.reflect.Field;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules share a guard only if all settings of guards are equal. */
final class GuardsTest {
    @ParameterizedTest
    @ValueSource(classes = {SignedUrlKeys.class, PasswordKeys.class, TokenKeys.class, AuthorizeKeys.class})
    void everySettingOfAGuardIsCompared(Class<?> keys) throws IllegalAccessException {
        for (Field field : keys.getFields()) {
            if (field.get(null) instanceof ConfigKey<?> key) {
                assertTrue(Guards.KEYS.contains(key), () -> key.name() + " is not compared");
            }
        }
    }
}
