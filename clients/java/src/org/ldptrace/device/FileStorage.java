package org.ldptrace.device;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.charset.Charset;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * A text in a file that is always whole, for the threads and processes of one machine.
 *
 * <p>A change holds the lock of the file {@code .lock} beside it, writes the new text to a temporary name, syncs it, renames it
 * over the old one and syncs again. The first line names the file, so that a hard link or a copy is refused: it would fork
 * what one person said.
 */
public final class FileStorage implements Storage {
    private static final Charset UTF8 = Charset.forName("UTF-8");
    private static final String HEAD = "kept in ";
    /** Files that some thread of this process is changing; locks of the system are for processes. */
    private static final Set<File> BUSY = new HashSet<>();

    private final File file;

    /** The text in this file; symbolic links are followed once, now. */
    public FileStorage(File file) throws IOException {
        this.file = file.getCanonicalFile();
    }

    @Override
    public void change(Change change) throws IOException, PlanRefused {
        File folder = file.getParentFile();
        if (!folder.isDirectory() && !folder.mkdirs() && !folder.isDirectory()) {
            throw new IOException("the folder " + folder + " of the ledger cannot be made");
        }
        enter();
        try {
            changeAlone(change);
        } finally {
            leave();
        }
    }

    private void changeAlone(Change change) throws IOException, PlanRefused {
        File lockFile = new File(file.getPath() + ".lock");
        RandomAccessFile locked = new RandomAccessFile(lockFile, "rw");
        try {
            FileLock lock = locked.getChannel().lock();
            try {
                byte[] mark = new byte[16];
                new SecureRandom().nextBytes(mark);
                locked.seek(0);
                locked.write(mark);
                String text = change.of(read());
                if (text != null) {
                    write(text);
                }
                // A lock file that somebody removed locks nothing: another process may have read what was there before.
                if (!Arrays.equals(bytesOf(lockFile), mark)) {
                    throw new IOException("the lock " + lockFile + " was removed while it was held; nothing is given away");
                }
            } finally {
                lock.release();
            }
        } finally {
            locked.close();
        }
    }

    private String read() throws IOException {
        if (!file.exists()) {
            String[] names = file.getParentFile().list();
            if (names != null && Arrays.asList(names).contains(file.getName())) {
                throw new IOException("the ledger " + file + " is a link to nothing");
            }
            return null;
        }
        String text = new String(bytesOf(file), UTF8);
        int end = text.indexOf('\n');
        if (end < 0 || !text.substring(0, end).equals(head())) {
            throw new IOException(
                    "the ledger " + file + " cannot be read, or is a copy or a link of another one: its first line must be '"
                            + head() + "'");
        }
        return text.substring(end + 1);
    }

    private void write(String text) throws IOException {
        byte[] random = new byte[4];
        new SecureRandom().nextBytes(random);
        File temporary = new File(file.getPath() + "." + Bytes.hex(random));
        try {
            FileOutputStream out = new FileOutputStream(temporary);
            try {
                // For its owner alone, where the system knows owners.
                temporary.setReadable(false, false);
                temporary.setReadable(true, true);
                out.write((head() + "\n" + text).getBytes(UTF8));
                out.getFD().sync();
            } finally {
                out.close();
            }
            if (!temporary.renameTo(file)) {
                throw new IOException("the ledger " + file + " cannot be replaced");
            }
        } finally {
            temporary.delete();
        }
        // The rename changed the file's own record: file systems write the folder's entry with it.
        RandomAccessFile renamed = new RandomAccessFile(file, "rw");
        try {
            renamed.getFD().sync();
        } finally {
            renamed.close();
        }
    }

    private String head() {
        return HEAD + file.getPath();
    }

    private void enter() {
        synchronized (BUSY) {
            boolean interrupted = false;
            while (!BUSY.add(file)) {
                try {
                    BUSY.wait();
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void leave() {
        synchronized (BUSY) {
            BUSY.remove(file);
            BUSY.notifyAll();
        }
    }

    static byte[] bytesOf(File file) throws IOException {
        InputStream in = new FileInputStream(file);
        try {
            return bytesOf(in);
        } finally {
            in.close();
        }
    }

    /** All bytes of a stream. */
    public static byte[] bytesOf(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[8192];
        for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
            out.write(piece, 0, count);
        }
        return out.toByteArray();
    }
}
