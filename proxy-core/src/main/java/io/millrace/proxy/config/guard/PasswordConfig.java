package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.request.RequestFacts;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The passwords that the requests of one remap rule need. Immutable.
 *
 * @param file the users and the hashes of their passwords
 * @param when the condition on requests that need a password; null for all
 * @param challenge value of WWW-Authenticate
 */
public record PasswordConfig(PasswordFile file, @Nullable Expression<RequestFacts> when, String challenge) {
    /**
     * Reads the settings of a remap rule.
     *
     * @param inForce the values of the rule, completed by the general values
     * @return null if no password is needed
     * @throws InvalidValueException if a setting or the file has a fault
     */
    public static @Nullable PasswordConfig from(ConfigValues inForce) throws InvalidValueException {
        LoadedFile file = inForce.find(PasswordKeys.FILE);
        if (file == null || !inForce.get(PasswordKeys.ENABLED)) {
            return null;
        }
        String when = inForce.find(PasswordKeys.WHEN);
        return new PasswordConfig(
                PasswordFile.parse(file),
                when == null ? null : RequestConditions.parse(when),
                "Basic realm=\"" + inForce.get(PasswordKeys.REALM) + "\", charset=\"UTF-8\"");
    }

    /**
     * Checks the condition.
     *
     * @throws InvalidValueException if it is no condition on requests
     */
    public static void checkWhen(ConfigValues values) throws InvalidValueException {
        RequestConditions.parse(values.get(PasswordKeys.WHEN));
    }

    /**
     * Checks the file of users.
     *
     * @throws InvalidValueException if a line has a fault, or if bcrypt is not available
     */
    public static void checkFile(ConfigValues values) throws InvalidValueException {
        PasswordFile.parse(values.get(PasswordKeys.FILE));
        try {
            Class.forName(
                    "org.bouncycastle.crypto.generators.OpenBSDBCrypt", false, PasswordConfig.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new InvalidValueException(
                    "needs org.bouncycastle:bcprov-jdk18on, which is not a dependency of this application");
        }
    }

    /**
     * Checks the realm.
     *
     * @throws InvalidValueException if it has a character that would need an escape
     */
    public static void checkRealm(String realm) throws InvalidValueException {
        if (!realm.chars().allMatch(c -> c >= ' ' && c <= '~' && c != '"' && c != '\\')) {
            throw new InvalidValueException(
                    "has a quote, a backslash, or a character other than visible ASCII characters and spaces");
        }
    }

    /** Returns the regular expressions of the condition; empty if the condition has a fault. */
    public static List<String> patterns(ConfigValues values) {
        String when = values.find(PasswordKeys.WHEN);
        try {
            return when == null ? List.of() : RequestConditions.parse(when).patterns();
        } catch (InvalidValueException e) {
            return List.of();
        }
    }
}
