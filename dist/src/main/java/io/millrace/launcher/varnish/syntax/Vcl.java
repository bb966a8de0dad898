package io.millrace.launcher.varnish.syntax;

import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The declarations of a VCL file and its included files. Confined to one thread. */
public final class Vcl {
    /**
     * A field of a backend or probe, such as {@code .host = "x"}.
     *
     * @param value the value without quotes; several strings are joined by line ends
     * @param fields the inner fields, if the value is a block such as a probe
     */
    public record Field(String name, String value, List<Field> fields, Entry entry) {}

    /** A {@code backend} or {@code probe} declaration. */
    public record Block(String name, List<Field> fields, Entry entry) {
        /** Returns the value of a field, or the default. */
        public String value(String field, String otherwise) {
            for (Field each : fields) {
                if (each.name.equals(field)) {
                    return each.value;
                }
            }
            return otherwise;
        }
    }

    /**
     * An address in an {@code acl}.
     *
     * @param text the address with its prefix length
     */
    public record Address(String text, boolean negated, Entry entry) {}

    /** An {@code acl} declaration: a named list of addresses. */
    public record Acl(String name, List<Address> addresses, Entry entry) {}

    private final Map<String, Block> backends = new LinkedHashMap<>();
    private final Map<String, Block> probes = new LinkedHashMap<>();
    private final Map<String, Acl> acls = new LinkedHashMap<>();
    private final Map<String, List<Statement>> subs = new LinkedHashMap<>();

    /** Backends by name, in the order of the file. */
    public Map<String, Block> backends() {
        return backends;
    }

    /** Probes by name. */
    public Map<String, Block> probes() {
        return probes;
    }

    /** Access lists by name. */
    public Map<String, Acl> acls() {
        return acls;
    }

    /** Statements of the subroutines; repeated subroutines are joined, as in Varnish. */
    public Map<String, List<Statement>> subs() {
        return subs;
    }

    void addSub(String name, List<Statement> statements) {
        subs.computeIfAbsent(name, key -> new ArrayList<>()).addAll(statements);
    }

    /** Returns the statements of a subroutine; empty if it does not exist. */
    public List<Statement> sub(String name) {
        return subs.getOrDefault(name, List.of());
    }
}
