package io.millrace.store.engine.volume;

import io.millrace.store.CacheStore;
import io.millrace.store.Journal;
import io.millrace.store.Successor;
import io.millrace.store.disk.Volume;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.io.FileIo;
import io.millrace.store.journal.JournalEntry;
import io.millrace.store.journal.JournalFile;
import io.millrace.store.recover.OpenedVolume;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The journal of a store: short durable entries that the code using the store defines, such as purges. Each storage
 * path has a copy. When the store opens, it merges the entries of all paths that kept their content, because each of
 * these journals contains all entries that concern the objects of its path. Afterwards each volume writes its own copy
 * on its own thread. Entries in force are those that a restart needs.
 *
 * <p>Thread-safe; {@link #readAll}, {@link #rewriteCopies} and {@link #addJoining} are confined to the thread that
 * opens the store or holds its life cycle lock.
 */
public final class StoreJournal implements Journal {
    private static final Logger LOG = LoggerFactory.getLogger(StoreJournal.class);

    private final FileIo io;
    private final boolean configured;
    private final List<VolumeJournal> journals = new CopyOnWriteArrayList<>();
    private List<Entry> entries = List.of();
    private Condition condition = Condition.NEW;
    /** True if the store has one volume and its journal is complete and intact, so that it need not be rewritten. */
    private boolean onlyCopyIntact = true;

    private volatile @Nullable Owner owner;
    private volatile @Nullable Successor successor;
    /**
     * The store that released the volumes to this one and still answers requests (the predecessor). It also receives
     * each new entry. Null if there is none.
     */
    private volatile CacheStore.@Nullable Predecessor predecessor;

    /**
     * Creates the journal.
     *
     * @param configured whether the store has volumes
     */
    public StoreJournal(FileIo io, boolean configured) {
        this.io = io;
        this.configured = configured;
    }

    /** Reads the journals of the opened volumes. Call before any object is read from them. */
    void readAll(List<OpenedVolume> volumes) {
        journals.clear();
        List<JournalFile> kept = new ArrayList<>();
        for (OpenedVolume opened : volumes) {
            Volume volume = opened.volume();
            if (volume != null) {
                JournalFile file = JournalFile.read(io, volume.directory());
                journals.add(new VolumeJournal(volume, file, this::inForce));
                if (opened.kept()) {
                    kept.add(file);
                }
            }
        }
        merge(kept);
        Owner currentOwner = owner;
        if (currentOwner != null) {
            currentOwner.recovered(entries, condition);
        }
    }

    private void merge(List<JournalFile> kept) {
        List<Entry> all = new ArrayList<>();
        int sound = 0;
        int damaged = 0;
        for (JournalFile file : kept) {
            sound += file.state() == JournalFile.State.SOUND ? 1 : 0;
            if (file.state() == JournalFile.State.DAMAGED) {
                damaged++;
                LOG.error("{}: the journal is damaged: {}", file.path(), file.problem());
            }
            for (JournalEntry entry : file.takeEntries()) {
                all.add(new Entry(entry.stamp(), entry.content()));
            }
        }
        entries = all;
        onlyCopyIntact = journals.size() == 1 && sound == 1 && kept.get(0).isAppendable();
        if (kept.isEmpty()) {
            condition = Condition.NEW;
        } else if (sound > 0) {
            condition = Condition.COMPLETE;
        } else {
            condition = damaged > 0 ? Condition.DAMAGED : Condition.MISSING;
        }
    }

    private List<JournalEntry> inForce() {
        Owner currentOwner = owner;
        if (currentOwner == null) {
            throw new IllegalStateException("the journal has no owner");
        }
        List<JournalEntry> all = new ArrayList<>();
        for (Entry entry : currentOwner.inForce()) {
            all.add(new JournalEntry(entry.stamp(), entry.content()));
        }
        return all;
    }

    @Override
    public void attach(Owner newOwner) {
        owner = newOwner;
        newOwner.recovered(entries, condition);
        rewriteCopies();
    }

    /**
     * Writes all entries in force to every path, unless the only copy is known to be intact. Call after the volumes
     * have started.
     */
    void rewriteCopies() {
        entries = List.of();
        if (owner == null || onlyCopyIntact) {
            return;
        }
        for (VolumeJournal journal : journals) {
            journal.rewriteSoon();
        }
    }

    /**
     * Writes all entries in force to a joining volume, which may have missed some. Call before any object is looked up
     * in the volume.
     */
    void addJoining(Volume volume) {
        journals.removeIf(journal -> journal.isOf(volume));
        VolumeJournal journal = new VolumeJournal(volume, JournalFile.read(io, volume.directory()), this::inForce);
        journals.add(journal);
        if (owner != null) {
            journal.rewriteSoon();
        }
    }

    /** Returns true if a volume's journal lacks entries in force, because a write failed or too many entries waited. */
    boolean isBehind(Volume volume) {
        for (VolumeJournal journal : journals) {
            if (journal.isOf(volume) && journal.isBehind()) {
                return true;
            }
        }
        return false;
    }

    /** Sends all later entries to the store that takes over the volumes (the successor), and appends none here. */
    public void setSuccessor(Successor newSuccessor) {
        successor = newSuccessor;
    }

    /**
     * Resumes writing after the volumes were taken back from the successor. The volumes may lack the entries that were
     * passed on, so all entries are rewritten. Call with the life cycle lock held.
     */
    public void resume() {
        boolean hadSuccessor = successor != null;
        successor = null;
        if (hadSuccessor && owner != null) {
            onlyCopyIntact = false;
            rewriteCopies();
        }
    }

    /** Passes each new entry to the predecessor of this store too; null for none. */
    public void predecessor(CacheStore.@Nullable Predecessor answering) {
        predecessor = answering;
    }

    /**
     * Appends an entry that another store has sent (the predecessor or the successor), and passes it to the journal's
     * owner (the code that uses the journal).
     */
    public void append(Entry entry, Consumer<@Nullable IOException> reply) {
        Owner currentOwner = owner;
        if (currentOwner == null) {
            throw new IllegalStateException("the journal has no owner");
        }
        currentOwner.recovered(List.of(entry), Condition.COMPLETE);
        appendHere(entry, reply::accept);
    }

    @Override
    public void append(Entry entry, Executor replyOn, AppendCallback reply) {
        AppendCallback delivered = problem -> Replies.deliver(replyOn, () -> reply.onAppend(problem));
        CacheStore.Predecessor answering = predecessor;
        if (answering == null) {
            appendHere(entry, delivered);
        } else {
            CompletionStage<?> applied = answering.apply(PassedChange.entry(entry));
            appendHere(entry, problem -> applied.whenComplete((nothing, failed) -> delivered.onAppend(problem)));
        }
    }

    /** Makes an entry durable in this store, or in its successor if the volumes are released. */
    private void appendHere(Entry entry, AppendCallback reply) {
        Successor receiver = successor;
        if (receiver == null || !configured) {
            write(entry, Runnable::run, reply);
        } else {
            receiver.apply(PassedChange.entry(entry), reply::onAppend);
        }
    }

    private void write(Entry entry, Executor replyOn, AppendCallback reply) {
        if (owner == null) {
            throw new IllegalStateException("the journal has no owner");
        }
        JournalAppend append = new JournalAppend(new JournalEntry(entry.stamp(), entry.content()), replyOn, reply);
        for (VolumeJournal journal : journals) {
            journal.append(append);
        }
        append.started(configured);
    }
}
