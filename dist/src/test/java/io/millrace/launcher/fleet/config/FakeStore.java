package io.millrace.launcher.fleet.config;

import java.io.IOException;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A store in memory that can be unreachable. Confined to one thread. */
public final class FakeStore implements ConfigStore {
    final TreeMap<String, Entry> entries = new TreeMap<>();
    private long version;
    boolean up = true;
    /** Whether the list of keys can be read. */
    boolean lists = true;

    /** A change by another node just before the next replacement; null for none. */
    @Nullable
    Runnable beforeReplace;

    private void check() throws IOException {
        if (!up) {
            throw new IOException("no server");
        }
    }

    /** Loses all entries, and counts versions from the beginning, as a bucket that is created again. */
    void lose() {
        entries.clear();
        version = 0;
    }

    @Override
    public @Nullable Entry get(String key) throws IOException {
        check();
        return entries.get(key);
    }

    @Override
    public boolean replace(String key, byte[] value, long expected) throws IOException {
        check();
        Runnable other = beforeReplace;
        beforeReplace = null;
        if (other != null) {
            other.run();
        }
        Entry present = entries.get(key);
        if ((present == null ? 0 : present.version()) != expected) {
            return false;
        }
        put(key, value);
        return true;
    }

    @Override
    public void put(String key, byte[] value) throws IOException {
        check();
        version++;
        entries.put(key, new Entry(value.clone(), version));
    }

    @Override
    public void delete(String key) throws IOException {
        check();
        entries.remove(key);
    }

    @Override
    public List<String> keys() throws IOException {
        check();
        if (!lists) {
            throw new IOException("timeout");
        }
        return List.copyOf(entries.keySet());
    }
}
