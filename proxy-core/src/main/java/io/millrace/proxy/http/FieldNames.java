package io.millrace.proxy.http;

/**
 * A set of well-known field names. A lookup uses the id of a name and compares no bytes.
 *
 * <p>Immutable.
 */
public final class FieldNames {
    /** True at the index {@link FieldName#id} of each name in the set. */
    private final boolean[] ids;
    /** One bit per name id, modulo 64, like the presence bits of a {@link FieldSection}. */
    private final long bits;

    private FieldNames(boolean[] ids, long bits) {
        this.ids = ids;
        this.bits = bits;
    }

    /**
     * Returns the set of these names.
     *
     * @throws IllegalArgumentException if a name is not well known
     */
    public static FieldNames of(FieldName... names) {
        boolean[] ids = new boolean[FieldName.ids()];
        long bits = 0;
        for (FieldName name : names) {
            if (!name.isWellKnown()) {
                throw new IllegalArgumentException("not a well-known field name: " + name);
            }
            ids[name.id()] = true;
            bits |= FieldSection.bit(name.id());
        }
        return new FieldNames(ids, bits);
    }

    /** Returns true if the set contains the name of the line. */
    public boolean contains(FieldSection fields, int line) {
        return ids[fields.id(line)];
    }

    /** Returns true if the set contains the name. */
    public boolean contains(FieldName name) {
        return ids[name.id()];
    }

    /** Returns true if the section has a field with one of these names. */
    public boolean isAnyIn(FieldSection fields) {
        if (!fields.mayHave(bits)) {
            return false;
        }
        for (int line = 0; line < fields.size(); line++) {
            if (contains(fields, line)) {
                return true;
            }
        }
        return false;
    }
}
