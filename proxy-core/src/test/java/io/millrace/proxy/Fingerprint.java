package io.millrace.proxy;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Everything that is reachable from an object, as text: equal for graphs with equal values. Objects of classes of this
 * product are expanded field by field, lambdas too; other objects are printed. Confined to one thread.
 */
final class Fingerprint {
    private final Class<?> left;
    private final IdentityHashMap<Object, Integer> seen = new IdentityHashMap<>();
    private final StringBuilder text = new StringBuilder();

    /**
     * @param left class whose objects are skipped
     */
    Fingerprint(Class<?> left) {
        this.left = left;
    }

    String of(Object root) {
        write(root);
        return text.toString();
    }

    private void write(Object value) {
        if (value == null || left.isInstance(value)) {
            text.append('-');
        } else if (value.getClass().isArray()) {
            text.append('[');
            for (int i = 0; i < Array.getLength(value); i++) {
                write(Array.get(value, i));
                text.append(',');
            }
            text.append(']');
        } else if (value instanceof Map<?, ?> map) {
            List<String> entries = new ArrayList<>();
            map.forEach((key, element) -> entries.add(part(key) + "=" + part(element)));
            text.append(entries.stream().sorted().toList());
        } else if (value instanceof Collection<?> elements) {
            text.append('(');
            for (Object element : elements) {
                write(element);
                text.append(',');
            }
            text.append(')');
        } else if (value instanceof Enum<?> || !isOurs(value.getClass())) {
            text.append(plain(value));
        } else if (seen.putIfAbsent(value, seen.size()) == null) {
            fields(value);
        } else {
            text.append('@');
        }
    }

    private String part(Object value) {
        int start = text.length();
        write(value);
        String part = text.substring(start);
        text.setLength(start);
        return part;
    }

    /** An object that prints its address has no value of its own. */
    private static String plain(Object value) {
        String printed = value.toString();
        return printed.contains("@" + Integer.toHexString(System.identityHashCode(value)))
                ? value.getClass().getName()
                : printed;
    }

    private static boolean isOurs(Class<?> type) {
        return type.getName().startsWith("io.millrace.");
    }

    private void fields(Object value) {
        Class<?> type = value.getClass();
        text.append(type.isHidden() ? "lambda" : type.getSimpleName()).append('{');
        for (; type != null && isOurs(type); type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    field.setAccessible(true);
                    try {
                        write(field.get(value));
                    } catch (IllegalAccessException e) {
                        throw new AssertionError(e);
                    }
                    text.append(';');
                }
            }
        }
        text.append('}');
    }
}
