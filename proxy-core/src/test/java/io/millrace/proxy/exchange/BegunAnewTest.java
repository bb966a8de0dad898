package io.millrace.proxy.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.report.CacheOutcome;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.origin.OriginGroups;
import io.millrace.store.StoreKey;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Tests the objects that the fast lane reuses for one request after the other: no field keeps data of the previous
 * request.
 */
class BegunAnewTest {
    private static final RequestHead BEFORE = head("http://a.example/old");
    private static final RequestHead NEXT = head("http://b.example/new");

    private static RequestHead head(String url) {
        return RequestHead.of("GET", (TargetUri) TargetUri.parseAbsolute(url), FieldSection.EMPTY);
    }

    private static Map<String, Object> fieldsOf(Object of) throws IllegalAccessException {
        Map<String, Object> values = new TreeMap<>();
        for (Field field : of.getClass().getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                Object value = field.get(of);
                values.put(field.getName(), value instanceof CacheOutcome ? fieldsOf(value) : String.valueOf(value));
            }
        }
        return values;
    }

    /** Sets every field that is not an object of the proxy to a value that a new object never has. */
    private static void use(Object object) throws IllegalAccessException {
        for (Field field : object.getClass().getDeclaredFields()) {
            field.setAccessible(true);
            if (field.getType() == CacheOutcome.class) {
                use(field.get(object));
            }
            if (Modifier.isStatic(field.getModifiers()) || Modifier.isFinal(field.getModifiers())) {
                continue;
            }
            if (field.getType() == boolean.class) {
                field.setBoolean(object, true);
            } else if (field.getType() == int.class) {
                field.setInt(object, 99);
            } else if (field.getType() == long.class) {
                field.setLong(object, 99);
            } else if (field.getType() == String.class) {
                field.set(object, "something");
            } else if (field.getType().isEnum()) {
                Object[] values = field.getType().getEnumConstants();
                field.set(object, values[0].equals(field.get(object)) ? values[1] : values[0]);
            } else if (field.getType() == StoreKey.class) {
                field.set(object, new StoreKey(new byte[1], 1, 2));
            } else if (field.getType() == TargetUri.class) {
                field.set(object, head("http://c.example/").target());
            }
        }
    }

    @Test
    void decisionIsAsANewOne() throws Exception {
        Decision used = new Decision(BEFORE);
        use(used);
        Map<String, Object> fresh = fieldsOf(new Decision(NEXT));
        assertNotEquals(fresh, fieldsOf(used));
        used.begin(NEXT);
        assertEquals(fresh, fieldsOf(used));
    }

    @Test
    void reportIsAsANewOne() throws Exception {
        ExchangeLoop.Shared shared = new ExchangeLoop.Shared(
                null, null, null, null, null, null, new OriginGroups(), null, null, null, null, null, null, null, null);
        ExchangeLoop home = new ExchangeLoop(null, shared, null, new LoopCounters(), null);
        ExchangeReport used = new ExchangeReport(home, null, BEFORE, 1, 2);
        use(used);
        Map<String, Object> fresh = fieldsOf(new ExchangeReport(home, null, NEXT, 3, 4));
        assertNotEquals(fresh, fieldsOf(used));
        used.begin(null, NEXT, 3, 4);
        assertEquals(fresh, fieldsOf(used));
    }
}
