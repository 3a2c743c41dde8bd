package org.ldptrace.device;

import java.io.File;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.spec.ECPrivateKeySpec;
import java.util.Arrays;
import java.util.Map;
import javax.crypto.Cipher;

/** Vectors of sealed reports, and opening, which only the curator and tests do. */
public final class Sealing {
    private Sealing() {}

    /** `vectors FILE` prints what fails; `seal PUBLIC INFO LABEL TEXT` prints sealed bytes; `open SECRET PUBLIC INFO LABEL SEALED` a text. */
    public static void main(String[] given) throws Exception {
        if (given[0].equals("vectors")) {
            Object found = Json.parse(new String(FileStorage.bytesOf(new File(given[1])), Vectors.UTF8));
            System.out.println("tried " + check(Json.object(found)));
        } else if (given[0].equals("seal")) {
            System.out.println(Bytes.hex(Seals.seal(hex(given[1]), hex(given[2]), hex(given[3]), hex(given[4]))));
        } else {
            System.out.println(Bytes.hex(open(hex(given[1]), hex(given[2]), hex(given[3]), hex(given[4]), hex(given[5]))));
        }
    }

    private static int check(Map<String, Object> file) throws Exception {
        int tried = 0;
        for (Object entry : Json.list(file.get("seals"))) {
            Map<String, Object> v = Json.object(entry);
            boolean right;
            try {
                right = check(v, hex(v.get("public")), hex(v.get("info")), hex(v.get("label")));
            } catch (GeneralSecurityException | IllegalArgumentException wrong) {
                right = v.get("opened") == null;
            }
            tell(right, v);
            tried++;
        }
        for (Object entry : Json.list(file.get("public_keys"))) {
            Map<String, Object> v = Json.object(entry);
            tell(v.get("valid").equals(Seals.isPoint(hex(v.get("public")))), v);
            tried++;
        }
        return tried;
    }

    private static boolean check(Map<String, Object> v, byte[] point, byte[] info, byte[] label) throws Exception {
        byte[] text = open(hex(v.get("secret")), point, info, label, hex(v.get("sealed")));
        if (v.get("opened") == null || !Bytes.hex(text).equals(v.get("text"))) {
            return false;
        }
        KeyPair fresh = new KeyPair(Seals.publicKey(hex(v.get("fresh_public"))), secret(hex(v.get("fresh"))));
        byte[] again = Seals.seal(point, info, label, text);
        boolean bound = !v.containsKey("plan")
                || Arrays.equals(Seals.info((String) v.get("plan")), info) && Arrays.equals(Seals.label((Long) v.get("window")), label);
        return bound
                && Bytes.hex(Seals.sealWith(fresh, point, info, label, text)).equals(v.get("sealed"))
                && Arrays.equals(open(hex(v.get("secret")), point, info, label, again), text)
                && !Bytes.hex(again).equals(v.get("sealed"));
    }

    private static void tell(boolean right, Map<String, Object> v) {
        if (!right) {
            System.out.println("FAILED " + v.get("name"));
        }
    }

    private static byte[] open(byte[] secret, byte[] point, byte[] info, byte[] label, byte[] sealed) throws GeneralSecurityException {
        if (sealed.length < Seals.SEAL_BYTES) {
            throw new GeneralSecurityException("too short");
        }
        byte[] theirs = Arrays.copyOf(sealed, Seals.POINT_BYTES);
        byte[] context = Arrays.copyOf(theirs, theirs.length + point.length);
        System.arraycopy(point, 0, context, theirs.length, point.length);
        Cipher cipher = Seals.cipher(Cipher.DECRYPT_MODE, secret(secret), Seals.publicKey(theirs), context, info, label);
        return cipher.doFinal(Arrays.copyOfRange(sealed, theirs.length, sealed.length));
    }

    private static PrivateKey secret(byte[] number) throws GeneralSecurityException {
        return KeyFactory.getInstance("EC").generatePrivate(new ECPrivateKeySpec(new BigInteger(1, number), Seals.curve()));
    }

    private static byte[] hex(Object text) {
        return Bytes.ofHex((String) text);
    }
}
