package io.millrace.wasm.abi;

import io.millrace.proxy.spi.MutableFields;
import java.util.List;

/**
 * A change of a field by a module. Immutable.
 *
 * @param name in lower case
 * @param value empty for a removal
 */
public record FieldEdit(Kind kind, String name, String value) {
    /** The kinds of changes. */
    public enum Kind {
        ADD,
        REPLACE,
        REMOVE
    }

    /**
     * Applies changes in their order. The proxy refuses changes of fields that it writes itself; these are skipped and
     * logged once for each name.
     */
    public static void apply(List<FieldEdit> edits, MutableFields fields, ModuleLog log) {
        for (FieldEdit edit : edits) {
            try {
                switch (edit.kind) {
                    case ADD -> fields.add(edit.name, edit.value);
                    case REPLACE -> fields.set(edit.name, edit.value);
                    case REMOVE -> fields.remove(edit.name);
                }
            } catch (IllegalArgumentException e) {
                log.onceFor(
                        "field", "a change of a field was ignored, because the proxy does not permit it", edit.name);
            }
        }
    }
}
